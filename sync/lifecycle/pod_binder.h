// Finds the pods to which OpenYurt's pod binding (pod_binding.h) must be applied: those whose
// tolerations differ from what their node's autonomy requires.
//
// OpenYurt reacts only when one of two annotations of the node changes. Comparing the tolerations
// also catches changes of the third annotation, of the edge label, and those that happened while
// the controller was not running. At most one write per pod is in flight; after each one, whether
// it failed or not, the next pass considers the pod again. Has no clock, does no I/O.

#pragma once

#include <set>
#include <string>
#include <unordered_map>

#include "sync/lifecycle/effects.h"
#include "sync/lifecycle/pod_index.h"

namespace holdfast::sync::lifecycle {

class PodBinder {
 public:
  // Adds or replaces a node. Returns whether the caller must call consider() for all its pods.
  [[nodiscard]] bool set_node(const NodeFacts& node);
  void remove_node(const std::string& node) { nodes_.erase(node); }

  // Appends BindPod if the pod's tolerations must change. `node` is the pod's node.
  void consider(const NodeFacts& node, const PodFacts& pod, Effects& effects);

  // An effect was performed. Returns whether it was a BindPod.
  bool settle(const Effect& effect);

  // The keys of the pods that must be considered again since the last call.
  [[nodiscard]] std::set<std::string> take_unconfirmed();

 private:
  std::unordered_map<std::string, Autonomy> nodes_;  // edge workers, by name
  std::set<std::string> under_way_;                  // keys of pods with a write in flight
  std::set<std::string> unconfirmed_;                // keys of pods whose write has ended
};

}  // namespace holdfast::sync::lifecycle
