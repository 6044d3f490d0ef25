// The filter plugins, each as upstream's of its name; in their default order in plugins().

#pragma once

#include <set>
#include <string>
#include <vector>

#include "sync/schedule/filter.h"

namespace holdfast::sync::schedule {

struct FitOptions {
  std::set<std::string, std::less<>> ignored_resources;  // extended ones only
  std::set<std::string, std::less<>> ignored_groups;     // what is before the '/'
  // A request above all that the node has is unresolvable: taking pods away cannot help. Since
  // 1.34; before, it was unschedulable.
  bool hopeless_is_unresolvable = true;
};

struct PluginOptions {
  FitOptions fit;
  // The predicates of old that read a node's pressure conditions, for clusters whose controller
  // does not turn them into taints.
  bool pressure_predicates = false;
  // Autonomous nodes out of contact take no pods, whatever these tolerate: contact.h.
  bool contact = true;
};

[[nodiscard]] std::vector<Plugin> plugins(const PluginOptions& options = {});

[[nodiscard]] Plugin node_unschedulable();
[[nodiscard]] Plugin node_name();
[[nodiscard]] Plugin taint_toleration();
[[nodiscard]] Plugin node_affinity();
[[nodiscard]] Plugin node_ports();
[[nodiscard]] Plugin node_resources_fit(const FitOptions& options = {});
// Required affinity and anti-affinity to other pods, and theirs to this one.
[[nodiscard]] Plugin inter_pod_affinity();
// Constraints with DoNotSchedule.
[[nodiscard]] Plugin pod_topology_spread();
// `code` is how they reject: evicting pods does not lift a condition, so not as unschedulable.
[[nodiscard]] Plugin memory_pressure(Code code = Code::unresolvable);
[[nodiscard]] Plugin disk_pressure(Code code = Code::unresolvable);

// No autonomous node that is out of contact.
[[nodiscard]] Plugin node_contact();

// What NodeResourcesFit misses; in milli-cpu, bytes, pieces.
struct Shortfall {
  std::string resource;
  std::string reason;
  std::int64_t requested;
  std::int64_t used;
  std::int64_t capacity;

  bool operator==(const Shortfall&) const = default;
};

// Everything that `pod` misses on `node`, where `used` and `pods` are there already.
[[nodiscard]] std::vector<Shortfall> shortfalls(const PodView& pod, const NodeView& node,
                                                const Resources& used, std::int64_t pods,
                                                const Symbols& symbols, const FitOptions& options);

// The first taint with NoSchedule or NoExecute that the pod does not tolerate, or nullptr.
[[nodiscard]] const Taint* untolerated(const std::vector<Taint>& taints, const Pod& pod);

// Whether the pod may go to a node that is cordoned.
[[nodiscard]] bool tolerates_cordon(const Pod& pod);

}  // namespace holdfast::sync::schedule
