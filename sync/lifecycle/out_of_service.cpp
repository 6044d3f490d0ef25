#include "sync/lifecycle/out_of_service.h"

#include "sync/objects/names.h"
#include "sync/objects/toleration.h"

namespace holdfast::sync::lifecycle {

void OutOfService::set_node(const NodeFacts& node) {
  std::vector<Taint> taints;
  for (const Taint& taint : node.taints) {
    if (taint.key == objects::taint_out_of_service) taints.push_back(taint);
  }
  if (taints.empty() || node.ready().status == Truth::yes) {
    nodes_.erase(node.name);
  } else {
    OutOfServiceNode& dead = nodes_[node.name];
    if (dead.uid != node.uid) dead = {.uid = node.uid};
    dead.taints = std::move(taints);
  }
}

Effects OutOfService::pass(const PodIndex& pods) {
  Effects effects;
  for (auto& [name, dead] : nodes_) {
    const DeadNode node{name, dead.uid};
    bool in_use = false;
    for (const PodFacts* pod : pods.on_node(name)) {
      in_use = in_use || pod->terminating || (!pod->ended && !tolerates_it(dead, *pod));
      if (!pod->terminating || !under_way_.insert(pod->uid).second) continue;
      if (pod->ended) {
        effects.emplace_back(DeletePod{ref_of(*pod), node});
      } else {
        effects.emplace_back(FailPod{ref_of(*pod), node});
      }
    }
    if (in_use || dead.volumes != Volumes::attached) continue;
    dead.volumes = Volumes::detaching;
    effects.emplace_back(DetachVolumes{node});
  }
  return effects;
}

Effects OutOfService::settle(const Effect& effect, const Outcome& outcome) {
  const auto condition = condition_of(effect);
  if (condition && condition->out_of_service && outcome.node) set_node(*outcome.node);
  if (const auto* failing = std::get_if<FailPod>(&effect)) {
    if (outcome.ok()) return {DeletePod{failing->pod, failing->on}};
    under_way_.erase(failing->pod.uid);
  } else if (const auto* deletion = std::get_if<DeletePod>(&effect)) {
    if (deletion->forced) under_way_.erase(deletion->pod.uid);
  } else if (const auto* detaching = std::get_if<DetachVolumes>(&effect)) {
    const auto found = nodes_.find(detaching->node.name);
    if (found == nodes_.end() || found->second.uid != detaching->node.uid) return {};
    found->second.volumes = outcome.ok() ? Volumes::detached : Volumes::attached;
  }
  return {};
}

bool OutOfService::tolerates_it(const OutOfServiceNode& dead, const PodFacts& pod) const {
  return objects::matching_tolerations(dead.taints, pod.tolerations,
                                       options_.comparison_tolerations)
      .has_value();
}

}  // namespace holdfast::sync::lifecycle
