// Runs the pods bound to this node as plain local processes. For labs and tests: see pod_runtime.h
// for what it leaves out.
//
// Containers outlive the agent: the next one finds them by pid, start time and boot, and goes on.
// Everything that happens is decided by sync::PodRuntime; this waits, writes down and performs.
//
// Threading: the loop's thread only. Starting a container takes it some milliseconds (a fork, and
// three small files that are synced).

#pragma once

#include <memory>

#include "agent/edge/runtime/log_limit.h"
#include "agent/edge/runtime/process_watcher.h"
#include "agent/edge/runtime/status_sender.h"
#include "sync/runtime/pod_runtime.h"

namespace holdfast::agent {

struct ProcessRuntimeConfig {
  fs::Path dir;  // its own state: DATA_DIR/runtime
  sync::RuntimeConfig rules = {};
  // How to run a shim. The default is the agent itself; a test names another program.
  std::vector<std::string> shim = {"/proc/self/exe", "shim"};
  SenderConfig sender = {};
  Duration poll = std::chrono::seconds(1);                 // for what the kernel does not tell us
  std::uint64_t log_bytes_max = agent::log_bytes_max;      // of one container
  Duration log_check_interval = std::chrono::seconds(60);  // while anything runs
};

class ProcessRuntime {
 public:
  // All references outlive it. Adopts what an earlier agent has left running.
  // Errors: as StateDir::open(): conflict when another agent runs on this directory.
  [[nodiscard]] static Result<std::unique_ptr<ProcessRuntime>> open(asio::any_io_executor executor,
                                                                    ProcessRuntimeConfig config,
                                                                    PodSource& source,
                                                                    StatusSink& sink,
                                                                    const Clock& clock);

  // Runs until stop(), and cannot be cancelled otherwise. The containers run on.
  asio::awaitable<void> run();
  void stop();

  // Pods it knows, and pods whose reports are still to be sent.
  [[nodiscard]] std::size_t pods() const { return rules_.size(); }
  [[nodiscard]] std::size_t reports_pending() const { return sender_.pending(); }

 private:
  ProcessRuntime(asio::any_io_executor executor, ProcessRuntimeConfig config, StateDir state,
                 PodSource& source, StatusSink& sink, const Clock& clock);

  void adopt();
  void wake();
  // Steps and performs until nothing more is asked for.
  void settle();
  void maybe_limit_logs();
  [[nodiscard]] MonoTime next_wake() const;
  asio::awaitable<void> await_changes();
  void warn_of_unrunnable(const sync::DesiredPods& desired);

  void perform(const sync::RecordPod& action);
  void perform(const sync::StartContainer& action);
  void perform(const sync::SignalContainer& action);
  void perform(const sync::ReportStatus& action);
  void perform(const sync::FinalDelete& action);
  void perform(const sync::RemovePod& action);

  ProcessRuntimeConfig config_;
  StateDir state_;
  PodSource& source_;
  const Clock& clock_;
  ProcessTable table_;
  sync::PodRuntime rules_;
  StatusSender sender_;
  ProcessWatcher watcher_;
  std::map<std::string, sync::PodRecord> unrecorded_;  // by uid: the disk refused them
  std::map<std::string, sync::PodStatus> reported_;  // by uid: the last status, to tell of failures
  std::set<std::string> unrunnable_;                 // uids that were complained of
  loop::Event changed_;
  MonoTime logs_checked_ = MonoTime::min();
  bool is_dirty_ = false;
  bool is_stopping_ = false;
  loop::Tasks tasks_;
};

}  // namespace holdfast::agent
