#include "sync/lifecycle/pod_binder.h"

#include <utility>

#include "sync/lifecycle/pod_binding.h"

namespace holdfast::sync::lifecycle {

bool PodBinder::set_node(const NodeFacts& node) {
  if (!node.edge_worker) {
    nodes_.erase(node.name);
    return false;
  }
  const auto [known, fresh] = nodes_.try_emplace(node.name, node.autonomy);
  if (!fresh && known->second == node.autonomy) return false;
  known->second = node.autonomy;
  return true;
}

void PodBinder::consider(const NodeFacts& node, const PodFacts& pod, Effects& effects) {
  if (!node.edge_worker || !pod.bindable || pod.node != node.name) return;
  const PodBinding wanted = bind_pod(node.autonomy, pod.tolerations, pod.originals);
  if (!wanted.changed || !under_way_.insert(pod.key()).second) return;
  effects.emplace_back(BindPod{ref_of(pod), node.autonomy});
}

bool PodBinder::settle(const Effect& effect) {
  const auto* binding = std::get_if<BindPod>(&effect);
  if (binding == nullptr) return false;
  under_way_.erase(binding->pod.key());
  unconfirmed_.insert(binding->pod.key());
  return true;
}

std::set<std::string> PodBinder::take_unconfirmed() { return std::exchange(unconfirmed_, {}); }

}  // namespace holdfast::sync::lifecycle
