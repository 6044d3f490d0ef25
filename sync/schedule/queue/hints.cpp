#include "sync/schedule/queue/hints.h"

#include <algorithm>
#include <array>

#include "sync/objects/names.h"
#include "sync/schedule/contact.h"
#include "sync/schedule/filters/plugins.h"
#include "sync/schedule/names.h"
#include "sync/schedule/node_matcher.h"

namespace holdfast::sync::schedule {
namespace {

using enum EventKind;

struct Registration {
  std::string_view plugin;
  std::uint32_t kinds;
};

constexpr std::uint32_t bits() { return 0; }
template <class... More>
constexpr std::uint32_t bits(EventKind kind, More... more) {
  return 1U << static_cast<unsigned>(kind) | bits(more...);
}

// Which events may help against which plugin. InterPodAffinity and PodTopologySpread depend on all
// pods and labels of the cluster, so any change of these may help. What an extender depends on is
// not known at all.
constexpr std::array<Registration, 17> registrations = {{
    {plugin_fit, bits(assigned_pod_delete, assigned_pod_scale_down, node_add, node_allocatable,
                      own_scale_down)},
    {plugin_ports, bits(assigned_pod_delete, node_add)},
    {plugin_taints, bits(node_add, node_taints, own_tolerations)},
    {plugin_unschedulable, bits(node_add, node_taints, own_tolerations)},
    {plugin_node_affinity, bits(node_add, node_labels)},
    {plugin_node_name, bits(node_add)},
    {plugin_gates, bits(own_gates)},
    {plugin_pod_affinity, bits(assigned_pod_add, assigned_pod_labels, assigned_pod_delete,
                               own_labels, node_add, node_labels)},
    {plugin_spread, bits(assigned_pod_add, assigned_pod_labels, assigned_pod_delete, own_labels,
                         own_tolerations, node_add, node_labels, node_taints, node_remove)},
    {plugin_volume_restrictions, bits(assigned_pod_delete, node_add, claim)},
    {plugin_volume_limits, bits(assigned_pod_delete, node_add, claim, volume_limits)},
    {plugin_volume_binding,
     bits(node_add, node_labels, claim, volume, volume_class, storage_known)},
    {plugin_volume_zone, bits(node_add, node_labels, claim, volume_zones, waiting_class)},
    {plugin_contact, bits(node_add, node_taints, node_conditions)},
    {plugin_memory_pressure, bits(node_add, node_conditions)},
    {plugin_disk_pressure, bits(node_add, node_conditions)},
    {plugin_extender, ~0U},
}};

bool is_registered_for(const Registration& registration, EventKind kind) {
  return (registration.kinds & bits(kind)) != 0;
}

bool pressed(const Node& node, std::string_view condition) {
  const NodeCondition* found = find_condition(node.status, condition);
  return found != nullptr && found->status == objects::status_true;
}

// Whether the node fits now and did not before, or is new.
template <class Fits>
bool became(const Event& event, Fits&& fits) {
  if (!fits(*event.node)) return false;
  return event.old_node == nullptr || !fits(*event.old_node);
}

bool frees_a_port(const PodView& pod, const PodView& gone) {
  return std::any_of(pod.host_ports.begin(), pod.host_ports.end(), [&gone](const HostPort& port) {
    return std::any_of(gone.host_ports.begin(), gone.host_ports.end(),
                       [&port](const HostPort& taken) { return port.conflicts(taken); });
  });
}

// Whether a running pod now requests less of something that the waiting pod requests.
bool frees_a_resource(const PodView& pod, const Event& event) {
  const Resources& wanted = pod.requests.real;
  const Resources& before = event.old_pod->requests.real;
  const Resources& after = event.pod->requests.real;
  const auto shrank = [](std::int64_t asked, std::int64_t old, std::int64_t amount) {
    return asked > 0 && amount < old;
  };
  return shrank(wanted.milli_cpu, before.milli_cpu, after.milli_cpu) ||
         shrank(wanted.memory, before.memory, after.memory) ||
         shrank(wanted.ephemeral_storage, before.ephemeral_storage, after.ephemeral_storage) ||
         std::any_of(wanted.scalars.begin(), wanted.scalars.end(),
                     [&shrank, &before, &after](const Scalar& each) {
                       return shrank(each.amount, before.scalar(each.resource),
                                     after.scalar(each.resource));
                     });
}

bool schedulable(const Node& node, const Pod& pod) {
  return !node.spec.unschedulable || tolerates_cordon(pod);
}

bool share_a_claim(const PodView& pod, const PodView& other) {
  return pod.namespace_name() == other.namespace_name() &&
         std::any_of(pod.claims().begin(), pod.claims().end(),
                     [&other](const ClaimUse& use) { return other.uses_claim(use.claim); });
}

// Whether the node counted for all constraints of the pod: one without a topology key counts for
// none.
bool counts_for_spread(const Node& node, const Pod& pod) {
  const auto& constraints = pod.spec.topology_spread_constraints;
  return std::all_of(constraints.begin(), constraints.end(), [&node](const auto& each) {
    return node.metadata.labels.has(each.topology_key);
  });
}

bool of_node(EventKind kind) {
  return kind == node_add || kind == node_allocatable || kind == node_labels ||
         kind == node_taints || kind == node_conditions;
}

}  // namespace

bool PluginHints::registered(const Event& event) const {
  return event.kind == wildcard ||
         std::any_of(registrations.begin(), registrations.end(),
                     [&event](const auto& each) { return is_registered_for(each, event.kind); });
}

bool PluginHints::room_grew(const PodView& pod, const Event& event) const {
  NodeView empty;
  empty.node = event.node;
  auto amounts = read_resources(event.node->status.allocatable, symbols_);
  if (amounts) empty.allocatable = std::move(*amounts);
  empty.allowed_pods = read_amount(event.node->status.allocatable, "pods").value_or(0);
  if (!shortfalls(pod, empty, {}, 0, symbols_, fit_).empty()) return false;
  if (event.old_node == nullptr) return true;
  const auto before = read_resources(event.old_node->status.allocatable, symbols_);
  if (!before) return true;
  const Resources& wanted = pod.requests.real;
  const Resources& now = empty.allocatable;
  const auto grew = [](std::int64_t asked, std::int64_t old, std::int64_t amount) {
    return asked > 0 && amount > old;
  };
  const std::int64_t pods = read_amount(event.old_node->status.allocatable, "pods").value_or(0);
  return empty.allowed_pods > pods || grew(wanted.milli_cpu, before->milli_cpu, now.milli_cpu) ||
         grew(wanted.memory, before->memory, now.memory) ||
         grew(wanted.ephemeral_storage, before->ephemeral_storage, now.ephemeral_storage) ||
         std::any_of(wanted.scalars.begin(), wanted.scalars.end(),
                     [&grew, &before, &now](const Scalar& each) {
                       return grew(each.amount, before->scalar(each.resource),
                                   now.scalar(each.resource));
                     });
}

Hint PluginHints::ask(std::string_view plugin, const PodView& pod, const Event& event) const {
  const auto at = std::find_if(registrations.begin(), registrations.end(),
                               [plugin](const auto& each) { return each.plugin == plugin; });
  if (at == registrations.end() || !is_registered_for(*at, event.kind)) return Hint::unrelated;
  if (plugin == plugin_extender) return Hint::queue;
  const Pod& own = *pod.pod;
  bool helps = true;
  if (plugin == plugin_fit && of_node(event.kind)) {
    helps = room_grew(pod, event);
  } else if (event.kind == assigned_pod_scale_down) {
    helps = frees_a_resource(pod, event);
  } else if (event.kind == claim) {
    helps = event.claim.first == pod.namespace_name() && pod.uses_claim(event.claim.second);
  } else if (plugin == plugin_volume_restrictions && event.kind == assigned_pod_delete) {
    helps = share_a_claim(pod, *event.pod) || disks_conflict(pod, *event.pod);
  } else if (plugin == plugin_volume_limits && event.kind == assigned_pod_delete) {
    helps = !event.pod->claims().empty();
  } else if (plugin == plugin_ports && event.kind == assigned_pod_delete) {
    helps = frees_a_port(pod, *event.pod);
  } else if (plugin == plugin_taints && of_node(event.kind)) {
    helps = became(
        event, [&own](const Node& node) { return untolerated(node.spec.taints, own) == nullptr; });
  } else if (plugin == plugin_contact) {
    helps = became(event, [](const Node& node) { return !is_autonomous_out_of_contact(node); });
  } else if (plugin == plugin_unschedulable && of_node(event.kind)) {
    helps = became(event, [&own](const Node& node) { return schedulable(node, own); });
  } else if (plugin == plugin_unschedulable) {
    helps = tolerates_cordon(*event.pod->pod);
  } else if (plugin == plugin_node_affinity) {
    const NodeMatcher matcher(own.spec);
    helps = became(event, [&matcher](const Node& node) { return matcher.matches(node); });
  } else if (event.kind == node_remove && plugin == plugin_spread) {
    helps = counts_for_spread(*event.node, own);
  } else if (plugin == plugin_gates) {
    helps = event.pod->pod->spec.scheduling_gates.empty();
  } else if (plugin == plugin_memory_pressure) {
    helps = !pressed(*event.node, objects::condition_memory_pressure);
  } else if (plugin == plugin_disk_pressure) {
    helps = !pressed(*event.node, objects::condition_disk_pressure);
  }
  return helps ? Hint::queue : Hint::skip;
}

}  // namespace holdfast::sync::schedule
