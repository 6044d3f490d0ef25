// Cleans up nodes that an operator declared dead with the taint node.kubernetes.io/out-of-service,
// of any effect. While such a node is not ready, the controller does not wait for its kubelet.
//
// As upstream's pod garbage collector does, terminating pods on the node become Failed, unless they
// ended already, and are deleted without a grace period. TaintEviction makes the pods terminate,
// if the taint's effect is NoExecute and they do not tolerate it. When no pod on the node is
// terminating, and all that have not ended tolerate the taint, the node's volumes are detached, so
// that other nodes can attach them. Every pass repeats what has failed. Each effect is on the
// condition that the node is still out of service (condition_of() in effects.h). Has no clock, does
// no I/O.

#pragma once

#include <map>
#include <set>
#include <string>

#include "sync/lifecycle/effects.h"
#include "sync/lifecycle/options.h"
#include "sync/lifecycle/pod_index.h"

namespace holdfast::sync::lifecycle {

class OutOfService {
 public:
  explicit OutOfService(const Options& options) : options_(options) {}

  void set_node(const NodeFacts& node);
  void remove_node(const std::string& node) { nodes_.erase(node); }

  // The effects that are due now. To be called every few seconds.
  [[nodiscard]] Effects pass(const PodIndex& pods);

  // Reports the outcome of FailPod, a forced DeletePod or DetachVolumes; ignores other effects. The
  // node's current state in an outcome counts like one from the watch.
  [[nodiscard]] Effects settle(const Effect& effect, const Outcome& outcome);

  // The number of nodes that are out of service.
  [[nodiscard]] std::size_t nodes() const { return nodes_.size(); }

 private:
  enum class Volumes : std::uint8_t { attached, detaching, detached };
  struct OutOfServiceNode {
    std::string uid;
    std::vector<Taint> taints;  // out-of-service only
    Volumes volumes = Volumes::attached;
  };

  [[nodiscard]] bool tolerates_it(const OutOfServiceNode& dead, const PodFacts& pod) const;

  Options options_;
  std::map<std::string, OutOfServiceNode> nodes_;
  std::set<std::string> under_way_;  // uids of pods with an effect in flight
};

}  // namespace holdfast::sync::lifecycle
