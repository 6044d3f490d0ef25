// All pods of a node that runs them as plain processes: what should run, what is observed, what to
// do about the difference.
//
// For labs and tests: no images, volumes, probes, hooks, users or resource limits, and every pod
// shares the network and the files of the machine. A pod is stopped when a complete list lacks it
// or it is deleted, and never for lack of knowledge. What is observed of a pod without a record
// (the record was damaged) is treated alike.

#pragma once

#include <map>
#include <string>
#include <string_view>

#include "sync/runtime/pod_worker.h"

namespace holdfast::sync {

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

  // A record that was found at start. `now` as in the first step.
  void adopt(PodRecord record, MonoTime now);

  // What to do now, in order. After actions that change what is observed, step again.
  // Time must not run backwards between steps.
  [[nodiscard]] RuntimeActions step(const RuntimeStep& step);

  // When to step if nothing else happens; MonoTime::max() for never. Of the last step.
  [[nodiscard]] MonoTime deadline() const;

  [[nodiscard]] std::size_t size() const { return workers_.size(); }
  // Whether it has accepted or adopted the pod and not yet removed it.
  [[nodiscard]] bool knows(const std::string& uid) const { return workers_.contains(uid); }

 private:
  void want(const CompletePods& complete, const RuntimeStep& step);
  void end_strays(const RuntimeStep& step);

  RuntimeConfig config_;
  std::map<std::string, PodWorker> workers_;  // by uid
};

// Whether the runtime can take the pod: its uid and the names of its containers become names of
// files, so they have to be what Kubernetes makes them; and no two containers share a name.
[[nodiscard]] bool is_runnable(const Pod& pod);

// Letters, digits and '-', at most 253 of them: a uid, or the name of a container.
[[nodiscard]] bool is_safe_name(std::string_view name);

}  // namespace holdfast::sync
