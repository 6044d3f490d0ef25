// The filter plugins. Each behaves as upstream's plugin of that name; node_contact() is our own.

#pragma once

#include <set>
#include <string>
#include <vector>

#include "sync/schedule/filter.h"

namespace holdfast::sync::schedule {

struct FitOptions {
  std::set<std::string, std::less<>> ignored_resources;  // only extended resources are ignored
  std::set<std::string, std::less<>> ignored_groups;     // the part before the '/'
  // A request that exceeds the node's capacity is unresolvable, because removing pods cannot help.
  // Since 1.34; before that it was unschedulable.
  bool hopeless_is_unresolvable = true;
};

struct PluginOptions {
  FitOptions fit;
  // Adds memory_pressure() and disk_pressure(), for clusters whose controller does not turn the
  // pressure conditions into taints.
  bool pressure_predicates = false;
  // Adds the plugins for volumes. Without them, claims are ignored.
  bool volumes = true;
  // Adds node_contact().
  bool contact = true;
};

// The plugins that `options` enable, in upstream's default order.
[[nodiscard]] std::vector<Plugin> plugins(const PluginOptions& options = {});

[[nodiscard]] Plugin node_unschedulable();
[[nodiscard]] Plugin node_name();
[[nodiscard]] Plugin taint_toleration();
[[nodiscard]] Plugin node_affinity();
[[nodiscard]] Plugin node_ports();
[[nodiscard]] Plugin node_resources_fit(const FitOptions& options = {});
// The required affinity and anti-affinity of the pod to others, and others' anti-affinity to it.
[[nodiscard]] Plugin inter_pod_affinity();
// Topology spread constraints with DoNotSchedule.
[[nodiscard]] Plugin pod_topology_spread();
// The plugins for volumes reject every pod with claims while Storage::missing() is not "".
// ReadWriteOncePod claims and network disks that another pod uses.
[[nodiscard]] Plugin volume_restrictions();
// The limits of CSINodes.
[[nodiscard]] Plugin node_volume_limits();
// Whether each claim has, or can get, a volume that the node reaches; see volumes/match.h.
[[nodiscard]] Plugin volume_binding();
// The zone labels of bound volumes.
[[nodiscard]] Plugin volume_zone();
// Both reject every pod that uses dynamic resource allocation, or scheduling as a group, because
// the scheduler supports neither.
[[nodiscard]] Plugin dynamic_resources();
[[nodiscard]] Plugin gang_scheduling();
// The historic predicates CheckNodeMemoryPressure and CheckNodeDiskPressure. `code` is the code of
// the rejection; the default is unresolvable, because evicting pods does not end the condition.
[[nodiscard]] Plugin memory_pressure(Code code = Code::unresolvable);
[[nodiscard]] Plugin disk_pressure(Code code = Code::unresolvable);

// Rejects autonomous nodes that are out of contact, whatever the pod tolerates; see contact.h.
[[nodiscard]] Plugin node_contact();

// A resource of which a node has too little. Amounts are in milli-cpu, bytes or pieces.
struct Shortfall {
  std::string resource;
  std::string reason;
  std::int64_t requested;
  std::int64_t used;
  std::int64_t capacity;

  bool operator==(const Shortfall&) const = default;
};

// All shortfalls of `pod` on `node`, of which `used` is in use already by `pods` pods.
[[nodiscard]] std::vector<Shortfall> shortfalls(const PodView& pod, const NodeView& node,
                                                const Resources& used, std::int64_t pods,
                                                const Symbols& symbols, const FitOptions& options);

// The first taint with NoSchedule or NoExecute that the pod does not tolerate, or nullptr.
[[nodiscard]] const Taint* untolerated(const std::vector<Taint>& taints, const Pod& pod);

// Whether two pods on one node would use a network disk at the same time that forbids it.
[[nodiscard]] bool disks_conflict(const PodView& left, const PodView& right);

// Whether the pod may go to a cordoned node.
[[nodiscard]] bool tolerates_cordon(const Pod& pod);

}  // namespace holdfast::sync::schedule
