// Runs one pod: starts its containers in order, restarts them after they end, stops the pod and
// reports its status. Pure; the caller performs the actions.
//
// Everything that must survive a restart of the agent is in the PodRecord and in what is observed,
// so a new worker continues where the last one stopped. A pod that is being stopped is never
// started again.

#pragma once

#include <set>
#include <string>
#include <utility>

#include "sync/runtime/actions.h"
#include "sync/runtime/container_rules.h"
#include "sync/runtime/pod_status.h"

namespace holdfast::sync::runtime {

struct RuntimeConfig {
  NodeFacts node = {};
  CrashBackoffConfig backoff = {};
  // If the pod names no grace period; Kubernetes' default.
  Duration grace_default = std::chrono::seconds(30);
  Duration kill_retry = std::chrono::seconds(10);         // between repeated SIGKILLs
  Duration config_retry = std::chrono::seconds(10);       // while a ConfigMap or Secret is missing
  Duration final_delete_retry = std::chrono::minutes(1);  // while the pod is still in the list
};

struct PodStep {
  MonoTime now{};
  WallTime now_wall{};
  const ObservedPod& observed;
  const ConfigSource& configs;
};

class PodWorker {
 public:
  // accept() takes a pod that was just bound to this node, adopt() one whose record was found at
  // start.
  [[nodiscard]] static PodWorker accept(std::shared_ptr<const Pod> pod, MonoTime now,
                                        WallTime now_wall);
  [[nodiscard]] static PodWorker adopt(PodRecord record, MonoTime now);

  // Call one of these for each complete list: the pod is in it, in this version, or it is not.
  void wanted(std::shared_ptr<const Pod> pod);
  void unwanted();

  // Appends what to do now to `actions`. After an action that changes what is observed, step again.
  void step(const RuntimeConfig& config, const PodStep& step, RuntimeActions& actions);

  // When to step if nothing else happens, according to the last step; MonoTime::max(): never.
  [[nodiscard]] MonoTime deadline() const { return deadline_; }

  // RemovePod was emitted for the pod, so the worker can be destroyed.
  [[nodiscard]] bool is_finished() const { return finished_; }

  // Valid until the next wanted().
  [[nodiscard]] const Pod& pod() const { return *record_.pod; }

 private:
  explicit PodWorker(PodRecord record) : record_(std::move(record)) {}

  using AttemptName = std::pair<std::string, std::int32_t>;

  [[nodiscard]] PodKey key() const;
  [[nodiscard]] Duration grace(const RuntimeConfig& config) const;
  void wake_at(MonoTime time) { deadline_ = std::min(deadline_, time); }
  void stop(StopCause cause);
  void maybe_stop(MonoTime now, bool complete);
  void run(const RuntimeConfig& config, const PodStep& step, std::vector<ContainerView>& views,
           RuntimeActions& actions);
  void start(const RuntimeConfig& config, const PodStep& step, ContainerView& view,
             RuntimeActions& actions);
  void end(const RuntimeConfig& config, const PodStep& step, RuntimeActions& actions);
  void signal_all(const PodStep& step, StopSignal signal, RuntimeActions& actions);
  void report(const RuntimeConfig& config, const PodStep& step,
              const std::vector<ContainerView>& views, RuntimeActions& actions);
  // Asks for the final DELETE or RemovePod once nothing runs any more.
  void settle(const RuntimeConfig& config, MonoTime now, RuntimeActions& actions);

  PodRecord record_;
  bool must_record_ = false;
  bool is_wanted_ = true;
  bool is_new_version_ = false;  // since the last report()
  bool stopped_ = false;         // the pod is being stopped, and nothing runs any more
  bool finished_ = false;
  std::set<AttemptName> terminated_ = {};  // attempts that were sent SIGTERM
  std::optional<MonoTime> stop_began_ = {};
  std::optional<MonoTime> killed_ = {};   // time of the last SIGKILL
  std::optional<MonoTime> deleted_ = {};  // time of the last FinalDelete
  std::optional<PodStatus> reported_ = {};
  MonoTime deadline_ = MonoTime::max();
};

}  // namespace holdfast::sync::runtime
