// Events in the cluster after which a pod may fit that did not fit before.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "sync/model/node.h"
#include "sync/schedule/pod_view.h"
#include "sync/schedule/volumes/storage.h"

namespace holdfast::sync::schedule {

enum class EventKind : std::uint8_t {
  wildcard,  // may help every pod
  node_add,
  node_allocatable,
  node_labels,
  node_taints,  // taints or spec.unschedulable
  node_conditions,
  node_remove,
  assigned_pod_add,
  assigned_pod_labels,
  assigned_pod_scale_down,  // its requests shrank
  assigned_pod_delete,
  claim,          // a PersistentVolumeClaim
  volume,         // a PersistentVolume
  volume_zones,   // its zone labels
  volume_class,   // a StorageClass: a new one, or where its volumes can be made
  waiting_class,  // a new StorageClass whose volumes wait for their first consumer
  volume_limits,  // a CSINode: a new one, or a raised limit
  storage_known,  // all claims, volumes, classes and limits are known from now on
  own_labels,     // this and the following are changes of the waiting pod itself
  own_tolerations,
  own_scale_down,
  own_gates,
  own_other,
};

struct Event {
  EventKind kind = EventKind::wildcard;
  std::string_view label;  // its name in metrics and logs ("NodeAdd"); of static storage duration
  std::shared_ptr<const Node> old_node;  // set if a node changed
  std::shared_ptr<const Node> node;      // set in all events of a node
  PodRef old_pod;                        // set if a pod changed
  PodRef pod;                            // set in all events of a pod, also of a deleted one
  ClaimName claim = {};                  // set if a claim changed
  // If set, only pods of at most this priority are helped.
  std::optional<std::int32_t> priority_max = {};
};

inline constexpr std::string_view label_add = "UnschedulablePodAdd";
inline constexpr std::string_view label_update = "PodUpdate";
inline constexpr std::string_view label_failure = "ScheduleAttemptFailure";
inline constexpr std::string_view label_backoff = "BackoffComplete";
inline constexpr std::string_view label_timeout = "UnschedulableTimeout";
inline constexpr std::string_view label_activate = "ForceActivate";

[[nodiscard]] Event node_added(std::shared_ptr<const Node> node);
// One event for each part of the node that changed.
[[nodiscard]] std::vector<Event> node_changed(const std::shared_ptr<const Node>& before,
                                              const std::shared_ptr<const Node>& after);
[[nodiscard]] Event node_removed(std::shared_ptr<const Node> node);
[[nodiscard]] Event assigned_pod_added(PodRef pod);
[[nodiscard]] Event assigned_pod_deleted(PodRef pod);
// The pod's nomination to a node ended, and the pod does not run there. Filters counted it for pods
// of at most its own priority, so that is like a running pod's end for these.
[[nodiscard]] Event nomination_ended(PodRef pod);
[[nodiscard]] std::vector<Event> assigned_pod_changed(const PodRef& before, const PodRef& after);
// `before` is null for a new object.
[[nodiscard]] Event claim_changed(const Claim* before, const Claim& after);
[[nodiscard]] std::vector<Event> volume_changed(const Volume* before, const Volume& after);
[[nodiscard]] std::vector<Event> class_changed(const VolumeClass* before, const VolumeClass& after);
[[nodiscard]] std::vector<Event> limits_changed(const VolumeLimits* before,
                                                const VolumeLimits& after);
// Volumes that were promised to a pod's claims are free again.
[[nodiscard]] Event volumes_released();
[[nodiscard]] Event storage_known();
// The events of a change of a pod that waits to be scheduled; never empty.
[[nodiscard]] std::vector<Event> waiting_pod_changed(const PodRef& before, const PodRef& after);

}  // namespace holdfast::sync::schedule
