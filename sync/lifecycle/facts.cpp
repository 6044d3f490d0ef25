#include "sync/lifecycle/facts.h"

#include <algorithm>

#include "platform/check.h"
#include "platform/text.h"
#include "sync/lifecycle/pod_binding.h"
#include "sync/lifecycle/zone.h"
#include "sync/objects/names.h"

namespace holdfast::sync::lifecycle {
namespace {

bool is_disruption_marked(const PodStatus& status) {
  const PodCondition* found = find_condition(status, objects::condition_disruption_target);
  return found != nullptr && found->status == objects::status_true &&
         found->reason == objects::reason_taint_deletion &&
         found->message == objects::message_taint_deletion;
}

// Whether a kubelet of this version ("v1.12.10") posts OutOfDisk: all before 1.13 do.
bool posts_out_of_disk(std::string_view kubelet_version) {
  constexpr std::string_view major = "v1.";
  if (!kubelet_version.starts_with(major)) return false;
  kubelet_version.remove_prefix(major.size());
  const auto minor = parse_int<int>(kubelet_version.substr(0, kubelet_version.find('.')));
  return minor && *minor < 13;
}

}  // namespace

std::string_view to_string(ConditionType type) {
  switch (type) {
    case ConditionType::ready:
      return objects::condition_ready;
    case ConditionType::out_of_disk:
      return objects::condition_out_of_disk;
    case ConditionType::memory:
      return objects::condition_memory_pressure;
    case ConditionType::disk:
      return objects::condition_disk_pressure;
    case ConditionType::pid:
      return objects::condition_pid_pressure;
    case ConditionType::network:
      return objects::condition_network_unavailable;
  }
  UNREACHABLE();
}

Truth truth_of(std::string_view status) {
  if (status == objects::status_true) return Truth::yes;
  if (status == objects::status_false) return Truth::no;
  if (status == objects::status_unknown) return Truth::unknown;
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
  facts.edge_worker = meta.labels.get(objects::label_edge_worker) == "true";
  facts.exempt = meta.labels.has(objects::label_exempt);
  if (options.ask_provider) facts.provider_id = node.spec.provider_id;
  facts.autonomy = autonomy_of(meta.annotations);
  facts.taints = node.spec.taints;
  for (std::size_t index = 0; index < condition_types; ++index) {
    const auto type = static_cast<ConditionType>(index);
    const auto* found = find_condition(node.status, to_string(type));
    if (found == nullptr) continue;
    const bool old_only = type == ConditionType::out_of_disk;
    if (old_only && !posts_out_of_disk(node.status.node_info.kubelet_version)) continue;
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
  const PodCondition* ready = find_condition(pod.status, objects::condition_ready);
  if (ready != nullptr) facts.ready = truth_of(ready->status);
  facts.terminating = pod.metadata.deletion_grace_period_seconds.has_value();
  facts.disruption_marked = is_disruption_marked(pod.status);
  facts.ended = pod.status.phase == "Succeeded" || pod.status.phase == "Failed";
  facts.node_lost = pod.status.reason == objects::reason_node_lost;
  if (!options.taint_based_evictions) facts.labels = pod.metadata.labels;
  if (options.bind_pods) {
    facts.bindable = is_bindable(pod);
    facts.originals = originals_of(pod.metadata.annotations);
  }
  return facts;
}

bool is_older_version(std::string_view left, std::string_view right) {
  const auto before = parse_int<std::uint64_t>(left);
  const auto after = parse_int<std::uint64_t>(right);
  return before && after && *before < *after;
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
