// Nodes that an operator declared dead by the taint node.kubernetes.io/out-of-service, of any
// effect: while such a node is not ready, nobody waits for its kubelet any more.
//
// As upstream's pod garbage collector: pods that terminate there become Failed, unless they ended
// already, and are deleted without a grace period. Which pods terminate is decided elsewhere: the
// taint's NoExecute evicts those that do not tolerate it. Once no pod is left that runs there
// without tolerating the taint, the node's volumes are detached by force, so that other nodes may
// have them. Everything is tried again in the next pass until it is done. No clock, no I/O.

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

  // What is to be done now. To be called every few seconds.
  [[nodiscard]] Effects pass(const PodIndex& pods);

  // How FailPod, a forced DeletePod or DetachVolumes went; others are ignored.
  [[nodiscard]] Effects settle(const Effect& effect, const Outcome& outcome);

  [[nodiscard]] std::size_t nodes() const { return nodes_.size(); }

 private:
  enum class Volumes : std::uint8_t { attached, detaching, detached };
  struct Dead {
    std::vector<Taint> taints;  // out-of-service only
    Volumes volumes = Volumes::attached;
  };

  [[nodiscard]] bool tolerates_it(const Dead& dead, const PodFacts& pod) const;

  Options options_;
  std::map<std::string, Dead> nodes_;
  std::set<std::string> under_way_;  // uids of pods
};

}  // namespace holdfast::sync::lifecycle
