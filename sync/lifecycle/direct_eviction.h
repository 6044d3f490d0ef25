// Deleting the pods of a lost node without taints: what EvictPods means, step by step.
//
// Upstream's way until 1.26, switched on by --enable-taint-manager=false. Each pod gets the reason
// NodeLost first; pods that terminate already or that a DaemonSet selects are not deleted.

#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sync/lifecycle/effects.h"
#include "sync/lifecycle/facts.h"
#include "sync/model/workload.h"

namespace holdfast::sync::lifecycle {

// Whether the DaemonSet's selector takes the pod: by namespace and labels, not by owner. One that
// is empty or cannot be read takes none.
[[nodiscard]] bool selects(const DaemonSet& set, const PodFacts& pod);

class DirectEviction {
 public:
  // `node` has at least its name. `spared` are the keys of pods that some DaemonSet selects.
  DirectEviction(const NodeFacts& node, std::vector<PodFacts> pods, std::set<std::string> spared);

  // The next effect; nothing at the end. Each effect except events must be settled before the next
  // call.
  [[nodiscard]] std::optional<Effect> next();
  void settle(const Outcome& outcome);

  // Whether the node has to be tried again.
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  enum class Step : std::uint8_t { announce, mark, tell, remove };

  [[nodiscard]] bool to_delete(const PodFacts& pod) const;
  void next_pod();

  NodeFacts node_;
  std::vector<PodFacts> pods_;
  std::set<std::string> spared_;
  std::size_t at_ = 0;
  Step step_ = Step::announce;
  bool failed_ = false;
};

}  // namespace holdfast::sync::lifecycle
