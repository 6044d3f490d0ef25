#include "sync/lifecycle/facts.h"

#include <algorithm>

#include "platform/check.h"
#include "sync/lifecycle/names.h"
#include "sync/lifecycle/zone.h"

namespace holdfast::sync::lifecycle {
namespace {

bool is_disruption_marked(const PodStatus& status) {
  const PodCondition* found = status.condition(condition_disruption_target);
  return found != nullptr && found->status == status_true &&
         found->reason == reason_taint_deletion && found->message == message_taint_deletion;
}

}  // namespace

std::string_view to_string(ConditionType type) {
  switch (type) {
    case ConditionType::ready:
      return condition_ready;
    case ConditionType::memory:
      return condition_memory_pressure;
    case ConditionType::disk:
      return condition_disk_pressure;
    case ConditionType::pid:
      return condition_pid_pressure;
    case ConditionType::network:
      return condition_network_unavailable;
  }
  UNREACHABLE();
}

Truth truth_of(std::string_view status) {
  if (status == status_true) return Truth::yes;
  if (status == status_false) return Truth::no;
  if (status == status_unknown) return Truth::unknown;
  return Truth::other;
}

NodeFacts facts_of(const Node& node, const Options& options) {
  const ObjectMeta& meta = node.metadata;
  NodeFacts facts;
  facts.name = meta.name;
  facts.uid = meta.uid;
  facts.resource_version = meta.resource_version;
  facts.created = meta.creation_timestamp.value_or(WallTime{});
  facts.zone = zone_key(meta.labels);
  facts.excluded = excluded_from_disruption(meta.name, meta.labels, options);
  facts.unschedulable = node.spec.unschedulable;
  facts.autonomy = autonomy_of(meta.annotations);
  facts.taints = node.spec.taints;
  for (std::size_t index = 0; index < condition_types; ++index) {
    const auto* found = node.status.condition(to_string(static_cast<ConditionType>(index)));
    if (found == nullptr) continue;
    facts.conditions[index] = {truth_of(found->status), found->last_heartbeat_time,
                               found->last_transition_time};
  }
  return facts;
}

PodFacts facts_of(const Pod& pod, const Options& options) {
  PodFacts facts;
  facts.namespace_name = pod.metadata.namespace_name;
  facts.name = pod.metadata.name;
  facts.uid = pod.metadata.uid;
  facts.node = pod.spec.node_name;
  facts.tolerations = pod.spec.tolerations;
  const PodCondition* ready = pod.status.condition(condition_ready);
  if (ready != nullptr) facts.ready = truth_of(ready->status);
  facts.terminating = pod.metadata.deletion_grace_period_seconds.has_value();
  facts.disruption_marked = is_disruption_marked(pod.status);
  facts.node_lost = pod.status.reason == reason_node_lost;
  if (!options.taint_based_evictions) facts.labels = pod.metadata.labels;
  return facts;
}

bool differ_beyond_heartbeat(const NodeFacts& left, const NodeFacts& right) {
  for (std::size_t index = 0; index < condition_types; ++index) {
    if (left.conditions[index].status != right.conditions[index].status) return true;
  }
  return left.uid != right.uid || left.zone != right.zone || left.excluded != right.excluded ||
         left.unschedulable != right.unschedulable || left.autonomy != right.autonomy ||
         left.taints != right.taints;
}

}  // namespace holdfast::sync::lifecycle
