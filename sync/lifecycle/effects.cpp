#include "sync/lifecycle/effects.h"

#include <utility>

#include "sync/lifecycle/taints.h"
#include "sync/objects/names.h"

namespace holdfast::sync::lifecycle {
namespace {

constexpr std::size_t taints = 0;
constexpr std::size_t statuses = 1;
constexpr std::size_t removals = 2;  // of pods, volumes and nodes, and the marks before them
constexpr std::size_t marks = 3;
constexpr std::size_t details = 4;
constexpr std::size_t reports = 5;

control::EffectOrder order(const PatchTaints& effect) { return {taints, effect.node}; }
control::EffectOrder order(const UpdateNodeStatus& effect) { return {statuses, effect.node}; }
control::EffectOrder order(const MarkPodLost& effect) { return {removals, effect.pod.key()}; }
control::EffectOrder order(const MarkPodDisrupted& effect) { return {removals, effect.pod.key()}; }
control::EffectOrder order(const DeletePod& effect) { return {removals, effect.pod.key()}; }
control::EffectOrder order(const EvictPod& effect) { return {removals, effect.pod.key()}; }
control::EffectOrder order(const FailPod& effect) { return {removals, effect.pod.key()}; }
control::EffectOrder order(const DetachVolumes& effect) { return {removals, effect.node.name}; }
control::EffectOrder order(const DeleteNode& effect) { return {removals, effect.node}; }
control::EffectOrder order(const MarkPodNotReady& effect) { return {marks, effect.pod.key()}; }
control::EffectOrder order(const BindPod& effect) { return {marks, effect.pod.key()}; }
control::EffectOrder order(const PatchLabels& effect) { return {details, effect.node}; }
control::EffectOrder order(const AskProvider& /*effect*/) { return {details, ""}; }
control::EffectOrder order(const RecordEvent& /*effect*/) { return {reports, "", true}; }

}  // namespace

std::string_view disruption_status(const MarkPodDisrupted& effect) {
  return effect.withdrawn ? objects::status_false : objects::status_true;
}

std::string_view disruption_message(const MarkPodDisrupted& effect) {
  constexpr std::string_view stays = "Taint manager: the eviction was withdrawn";
  return effect.withdrawn ? stays : objects::message_taint_deletion;
}

RecordEvent node_event(const NodeFacts& node, bool warning, std::string_view reason,
                       std::string message) {
  return {EventSource::lifecycle, EventKind::node,   PodRef{"", node.name, node.uid}, warning,
          std::string(reason),    std::move(message)};
}

RecordEvent pod_event(EventSource source, PodRef pod, bool warning, std::string_view reason,
                      std::string message) {
  return {source, EventKind::pod, std::move(pod), warning, std::string(reason), std::move(message)};
}

PodRef ref_of(const PodFacts& pod) { return {pod.namespace_name, pod.name, pod.uid}; }

control::EffectOrder order_of(const Effect& effect) {
  return std::visit([](const auto& one) { return order(one); }, effect);
}

bool NodeMustBe::holds(const NodeFacts& node) const {
  if (node.uid != uid || node.ready().status == Truth::yes) return false;
  return !out_of_service || has_out_of_service(node.taints);
}

std::optional<NodeMustBe> condition_of(const Effect& effect) {
  const auto dead = [](const DeadNode& node) { return NodeMustBe{node.name, node.uid, true}; };
  if (const auto* failing = std::get_if<FailPod>(&effect)) return dead(failing->on);
  if (const auto* detaching = std::get_if<DetachVolumes>(&effect)) return dead(detaching->node);
  if (const auto* removal = std::get_if<DeleteNode>(&effect)) {
    return NodeMustBe{removal->node, removal->uid};
  }
  const auto* deletion = std::get_if<DeletePod>(&effect);
  if (deletion == nullptr || !deletion->forced) return std::nullopt;
  return dead(*deletion->forced);
}

}  // namespace holdfast::sync::lifecycle
