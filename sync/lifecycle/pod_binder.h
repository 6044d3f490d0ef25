// When pods are bound: whenever what they have is not what their node's autonomy asks for.
//
// OpenYurt looks only when one of two annotations of the node changes; here the outcome counts, so
// that a change of the third annotation, of the edge label or during our absence is not missed. One
// write for a pod at a time; after each one, failed or not, the next pass looks again. Pure.

#pragma once

#include <set>
#include <string>
#include <unordered_map>

#include "sync/lifecycle/effects.h"
#include "sync/lifecycle/pod_index.h"

namespace holdfast::sync::lifecycle {

class PodBinder {
 public:
  // A node is there or changed: whether its pods are to be considered.
  [[nodiscard]] bool set_node(const NodeFacts& node);
  void remove_node(const std::string& node) { nodes_.erase(node); }

  // Appends the write that the pod needs on its node, if it needs one.
  void consider(const NodeFacts& node, const PodFacts& pod, Effects& effects);

  // A write was performed: true if this was BindPod.
  bool settle(const Effect& effect);

  // Pods to be considered once more, by their keys.
  [[nodiscard]] std::set<std::string> take_unconfirmed();

 private:
  std::unordered_map<std::string, Autonomy> nodes_;  // edge workers
  std::set<std::string> under_way_;
  std::set<std::string> unconfirmed_;
};

}  // namespace holdfast::sync::lifecycle
