// Runs one pod: starts its containers in order and again after they end, stops it for good, and
// says how it is.
//
// All that must survive the agent is in the record and in what is observed; a worker made anew from
// these goes on where the last one was. A pod that is being stopped is never started again.

#pragma once

#include <set>
#include <string>
#include <utility>

#include "sync/runtime/actions.h"
#include "sync/runtime/container_rules.h"
#include "sync/runtime/pod_status.h"

namespace holdfast::sync {

struct RuntimeConfig {
  NodeFacts node = {};
  CrashBackoffConfig backoff = {};
  Duration grace_default = std::chrono::seconds(30);      // Kubernetes' own
  Duration kill_retry = std::chrono::seconds(10);         // between SIGKILLs that did not help
  Duration config_retry = std::chrono::seconds(10);       // while a ConfigMap or Secret is missing
  Duration final_delete_retry = std::chrono::minutes(1);  // while the pod is still listed
};

struct PodStep {
  MonoTime now{};
  WallTime now_wall{};
  const ObservedPod& observed;
  const ConfigSource& configs;
};

class PodWorker {
 public:
  // A pod that this node has just been given, or one whose record was found at start.
  [[nodiscard]] static PodWorker accept(std::shared_ptr<const Pod> pod, MonoTime now,
                                        WallTime now_wall);
  [[nodiscard]] static PodWorker adopt(PodRecord record, MonoTime now);

  // The pod is in a complete list, and like this; or is in none.
  void wanted(std::shared_ptr<const Pod> pod);
  void unwanted();

  // Appends what to do now. After an action that changes what is observed, step again.
  void step(const RuntimeConfig& config, const PodStep& step, RuntimeActions& actions);

  // When to step if nothing else happens; MonoTime::max() for never. Of the last step.
  [[nodiscard]] MonoTime deadline() const { return deadline_; }

  // Nothing of it is left: its RemovePod was given, and the worker can go.
  [[nodiscard]] bool is_finished() const { return finished_; }

  // Borrowed until the next wanted().
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
  void settle(const RuntimeConfig& config, MonoTime now, RuntimeActions& actions);

  PodRecord record_;
  bool must_record_ = false;
  bool is_wanted_ = true;
  bool is_new_version_ = false;  // since the last report was considered
  bool stopped_ = false;         // stopping, and nothing runs any more
  bool finished_ = false;
  std::set<AttemptName> terminated_ = {};  // SIGTERM was asked for
  std::optional<MonoTime> stop_began_ = {};
  std::optional<MonoTime> killed_ = {};   // last SIGKILL
  std::optional<MonoTime> deleted_ = {};  // last FinalDelete
  std::optional<PodStatus> reported_ = {};
  MonoTime deadline_ = MonoTime::max();
};

}  // namespace holdfast::sync
