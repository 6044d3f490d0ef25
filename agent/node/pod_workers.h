// Keeps the pods of this node running: asks sync::runtime::PodRuntime what to do, and does it with
// a Runtime. Everything that must survive this program is in the StateDir: the pods as they were
// last received, and the runtime's own records. A new run adopts both and continues, with or
// without the API.
//
// Threading: the loop's thread only.

#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "agent/node/pod_source.h"
#include "agent/node/pressure.h"
#include "agent/node/runtime.h"
#include "agent/node/state_dir.h"
#include "agent/node/status_sender.h"
#include "platform/loop/tasks.h"
#include "sync/runtime/pod_runtime.h"

namespace holdfast::agent::node {

// What the workers use; all are borrowed and outlive them.
struct PodWorkersDependencies {
  const StateDir& state;
  Runtime& runtime;
  PodSource& source;
  StatusSink& sink;
  const Pressure& pressure;
  const Clock& clock;
};

class PodWorkers {
 public:
  // Adopts the pods and containers of an earlier run.
  PodWorkers(asio::any_io_executor executor, const PodWorkersDependencies& parts,
             sync::runtime::RuntimeConfig rules, const SenderConfig& sender = {});

  // Runs until stop(); cancelling the coroutine has no effect. The containers keep running.
  asio::awaitable<void> run();
  void stop();

  // The known pod of that name; null if there is none. Valid until control returns to the loop.
  [[nodiscard]] const sync::Pod* find(std::string_view name_space, std::string_view name) const {
    return rules_.find(name_space, name);
  }
  // The number of known pods, and of pods with reports that are still to be sent.
  [[nodiscard]] std::size_t pods() const { return rules_.size(); }
  [[nodiscard]] std::size_t reports_pending() const { return sender_.pending(); }

 private:
  void adopt();
  void wake();
  // Asks the rules and performs their actions until they return none.
  void settle();
  [[nodiscard]] MonoTime next_wake() const;
  asio::awaitable<void> await_changes();
  void warn_of_unrunnable(const sync::runtime::CompletePods& complete);
  // Removes new pods that may not start now, and reports each of them once.
  void refuse_inadmissible(sync::runtime::CompletePods& complete);

  void perform(const sync::runtime::RecordPod& action);
  void perform(const sync::runtime::StartContainer& action);
  void perform(const sync::runtime::SignalContainer& action);
  void perform(const sync::runtime::ReportStatus& action);
  void perform(const sync::runtime::FinalDelete& action);
  void perform(const sync::runtime::RemovePod& action);

  PodWorkersDependencies dependencies_;
  std::string node_name_;
  sync::runtime::PodRuntime rules_;
  StatusSender sender_;
  std::map<std::string, sync::runtime::PodRecord>
      unrecorded_;                                   // by uid: could not be written to disk
  std::map<std::string, sync::PodStatus> reported_;  // by uid: the last status, for Events
  std::set<std::string> unrunnable_;                 // uids that were warned about
  std::set<std::string> refused_;                    // uids of listed pods that were not admitted
  loop::Event changed_;
  bool is_dirty_ = false;
  bool is_stopping_ = false;
  loop::Tasks tasks_;
};

}  // namespace holdfast::agent::node
