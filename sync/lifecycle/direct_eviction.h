// Deletes the pods of a lost node without taints: performs an EvictPods intent step by step.
//
// Upstream did this until 1.26 with --enable-taint-manager=false. Each pod first gets the reason
// NodeLost. Pods that are terminating already or that a DaemonSet selects are not deleted.

#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sync/lifecycle/effects.h"
#include "sync/lifecycle/facts.h"
#include "sync/model/workload.h"

namespace holdfast::sync::lifecycle {

// Whether the DaemonSet selects the pod: by namespace and labels, not by owner. An empty or invalid
// selector selects no pod.
[[nodiscard]] bool selects(const DaemonSet& set, const PodFacts& pod);

class DirectEviction {
 public:
  // Of `node`, only name and uid are used. `exempt` are the keys of pods that a DaemonSet selects.
  DirectEviction(const NodeFacts& node, std::vector<PodFacts> pods, std::set<std::string> exempt);

  // The next effect, or nullopt at the end. The outcome of each effect except events must be passed
  // to settle() before the next call.
  [[nodiscard]] std::optional<Effect> next();
  void settle(const Outcome& outcome);

  // Whether the eviction must be repeated.
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  enum class Step : std::uint8_t { announce, mark, record_event, remove };

  [[nodiscard]] bool to_delete(const PodFacts& pod) const;
  void next_pod();

  NodeFacts node_;
  std::vector<PodFacts> pods_;
  std::set<std::string> exempt_;
  std::size_t at_ = 0;
  Step step_ = Step::announce;
  bool failed_ = false;
};

}  // namespace holdfast::sync::lifecycle
