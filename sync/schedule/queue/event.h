// What happens in a cluster that may let a pod be scheduled that could not be before.

#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "sync/model/node.h"
#include "sync/schedule/pod_view.h"

namespace holdfast::sync::schedule {

enum class EventKind : std::uint8_t {
  wildcard,  // every pod is to be tried again
  node_add,
  node_allocatable,
  node_labels,
  node_taints,  // and cordons
  node_conditions,
  assigned_pod_add,
  assigned_pod_labels,
  assigned_pod_delete,
  own_labels,  // of the pod that waits, from here on
  own_tolerations,
  own_scale_down,
  own_gates,
  own_other,
};

struct Event {
  EventKind kind = EventKind::wildcard;
  std::string_view label;  // as metrics and logs name it: "NodeAdd"; text that outlives everything
  std::shared_ptr<const Node> old_node;  // set for changes of a node
  std::shared_ptr<const Node> node;      // set for all of a node
  PodRef old_pod;                        // set for changes of a pod
  PodRef pod;                            // set for all of a pod; the deleted one
};

inline constexpr std::string_view label_add = "UnschedulablePodAdd";
inline constexpr std::string_view label_update = "PodUpdate";
inline constexpr std::string_view label_failure = "ScheduleAttemptFailure";
inline constexpr std::string_view label_backoff = "BackoffComplete";
inline constexpr std::string_view label_timeout = "UnschedulableTimeout";
inline constexpr std::string_view label_activate = "ForceActivate";

[[nodiscard]] Event node_added(std::shared_ptr<const Node> node);
// One event for each part that changed.
[[nodiscard]] std::vector<Event> node_changed(const std::shared_ptr<const Node>& before,
                                              const std::shared_ptr<const Node>& after);
[[nodiscard]] Event assigned_pod_added(PodRef pod);
[[nodiscard]] Event assigned_pod_deleted(PodRef pod);
[[nodiscard]] std::vector<Event> assigned_pod_changed(const PodRef& before, const PodRef& after);
// Of a pod that waits to be scheduled.
[[nodiscard]] std::vector<Event> waiting_pod_changed(const PodRef& before, const PodRef& after);

}  // namespace holdfast::sync::schedule
