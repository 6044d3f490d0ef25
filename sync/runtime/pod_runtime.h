// Runs all pods of a node as plain processes: compares what should run with what is observed, and
// returns the actions that remove the difference. Pure; the caller performs the actions.
//
// It is meant for labs and tests: no images, volumes, probes, hooks, users or resource limits, and
// all pods share the network and files of the machine. A pod is stopped if it is deleted or missing
// in a complete list, but never because the list is unknown. The same holds for processes of a pod
// whose record was damaged.

#pragma once

#include <map>
#include <string>
#include <string_view>

#include "sync/pacing/monotonic.h"
#include "sync/runtime/pod_worker.h"

namespace holdfast::sync::runtime {

struct RuntimeStep {
  MonoTime now{};
  WallTime now_wall{};
  const DesiredPods& desired;
  const ObservedPods& observed;
  const ConfigSource& configs;
};

class PodRuntime {
 public:
  explicit PodRuntime(RuntimeConfig config) : config_(std::move(config)) {}

  // Continues with a pod whose record was found at start. `now` as in the first step().
  void adopt(PodRecord record, MonoTime now);

  // Returns what to do now, in order. After actions that change what is observed, step again. Time
  // must not run backwards between steps.
  [[nodiscard]] RuntimeActions step(const RuntimeStep& step);

  // When to step if nothing else happens, according to the last step; MonoTime::max(): never.
  [[nodiscard]] MonoTime deadline() const;

  [[nodiscard]] std::size_t size() const { return workers_.size(); }
  // Whether the pod was accepted or adopted and not removed since.
  [[nodiscard]] bool knows(const std::string& uid) const { return workers_.contains(uid); }
  // The known pod of that name; null if there is none. Valid until the next step().
  [[nodiscard]] const Pod* find(std::string_view name_space, std::string_view name) const;

 private:
  // Passes a complete list to the workers, and accepts new pods.
  void want(const CompletePods& complete, const RuntimeStep& step);
  // Stops processes of pods that have no record and are in no complete list.
  void end_strays(const RuntimeStep& step);

  RuntimeConfig config_;
  pacing::Monotonic monotonic_;
  std::map<std::string, PodWorker> workers_;  // by uid
};

// Whether the runtime can run the pod. Its uid and container names become file names, so they must
// be safe names, and no two containers may have the same one.
[[nodiscard]] bool is_runnable(const Pod& pod);

// Whether `name` has 1 to 253 letters, digits and '-' only, as a uid or a container's name.
[[nodiscard]] bool is_safe_name(std::string_view name);

}  // namespace holdfast::sync::runtime
