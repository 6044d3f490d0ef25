#include "sync/schedule/queue/event.h"

#include <algorithm>
#include <utility>

#include "sync/schedule/contact.h"

namespace holdfast::sync::schedule {
namespace {

struct Change {
  EventKind kind;
  std::string_view label;
};

bool same_conditions(const Node& before, const Node& after) {
  const auto& left = before.status.conditions;
  const auto& right = after.status.conditions;
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](const NodeCondition& a, const NodeCondition& b) {
                      return a.type == b.type && a.status == b.status;
                    });
}

bool scaled_down(const Resources& before, const Resources& after) {
  if (after.milli_cpu < before.milli_cpu || after.memory < before.memory ||
      after.ephemeral_storage < before.ephemeral_storage) {
    return true;
  }
  return std::any_of(before.scalars.begin(), before.scalars.end(), [&after](const Scalar& each) {
    return after.scalar(each.resource) < each.amount;
  });
}

}  // namespace

Event node_added(std::shared_ptr<const Node> node) {
  return {EventKind::node_add, "NodeAdd", nullptr, std::move(node), nullptr, nullptr};
}

std::vector<Event> node_changed(const std::shared_ptr<const Node>& before,
                                const std::shared_ptr<const Node>& after) {
  std::vector<Event> events;
  const auto note = [&events, &before, &after](Change change) {
    events.push_back({change.kind, change.label, before, after, nullptr, nullptr});
  };
  if (before->status.allocatable != after->status.allocatable) {
    note({EventKind::node_allocatable, "NodeAllocatableChange"});
  }
  if (before->metadata.labels != after->metadata.labels) {
    note({EventKind::node_labels, "NodeLabelChange"});
  }
  if (before->spec.taints != after->spec.taints ||
      before->spec.unschedulable != after->spec.unschedulable) {
    note({EventKind::node_taints, "NodeTaintChange"});
  }
  if (!same_conditions(*before, *after) ||
      is_autonomous_out_of_contact(*before) != is_autonomous_out_of_contact(*after)) {
    note({EventKind::node_conditions, "NodeConditionChange"});
  }
  return events;
}

Event assigned_pod_added(PodRef pod) {
  return {EventKind::assigned_pod_add, "AssignedPodAdd", nullptr, nullptr, nullptr, std::move(pod)};
}

Event assigned_pod_deleted(PodRef pod) {
  return {EventKind::assigned_pod_delete,
          "AssignedPodDelete",
          nullptr,
          nullptr,
          nullptr,
          std::move(pod)};
}

Event node_removed(std::shared_ptr<const Node> node) {
  return {EventKind::node_remove, "NodeDelete", nullptr, std::move(node), nullptr, nullptr};
}

Event nomination_ended(PodRef pod) {
  const std::int32_t priority = pod->priority;
  Event event = assigned_pod_deleted(std::move(pod));
  event.priority_max = priority;
  return event;
}

std::vector<Event> assigned_pod_changed(const PodRef& before, const PodRef& after) {
  std::vector<Event> events;
  const auto note = [&events, &before, &after](Change change) {
    events.push_back({change.kind, change.label, nullptr, nullptr, before, after});
  };
  if (before->pod->metadata.labels != after->pod->metadata.labels) {
    note({EventKind::assigned_pod_labels, "AssignedPodUpdate"});
  }
  if (scaled_down(before->requests.real, after->requests.real)) {
    note({EventKind::assigned_pod_scale_down, "AssignedPodRequestScaledDown"});
  }
  return events;
}

namespace {

Event of_storage(Change change, ClaimName claim = {}) {
  return {change.kind, change.label, nullptr, nullptr, nullptr, nullptr, std::move(claim)};
}

// Whether a limit was raised, or is absent now.
bool raised(const VolumeLimits& before, const VolumeLimits& after) {
  return std::any_of(before.begin(), before.end(), [&after](const auto& old) {
    const auto now = after.find(old.first);
    return now == after.end() || now->second > old.second;
  });
}

}  // namespace

Event claim_changed(const Claim* before, const Claim& after) {
  const auto* label =
      before == nullptr ? "PersistentVolumeClaimAdd" : "PersistentVolumeClaimUpdate";
  return of_storage({EventKind::claim, label}, after.name);
}

std::vector<Event> volume_changed(const Volume* before, const Volume& after) {
  const auto* label = before == nullptr ? "PersistentVolumeAdd" : "PersistentVolumeUpdate";
  std::vector<Event> events{of_storage({EventKind::volume, label})};
  if (before == nullptr || before->zones != after.zones) {
    events.push_back(of_storage({EventKind::volume_zones, label}));
  }
  return events;
}

std::vector<Event> class_changed(const VolumeClass* before, const VolumeClass& after) {
  if (before != nullptr && before->topologies == after.topologies) return {};
  const auto* label = before == nullptr ? "StorageClassAdd" : "StorageClassUpdate";
  std::vector<Event> events{of_storage({EventKind::volume_class, label})};
  if (before == nullptr && after.waits()) {
    events.push_back(of_storage({EventKind::waiting_class, label}));
  }
  return events;
}

std::vector<Event> limits_changed(const VolumeLimits* before, const VolumeLimits& after) {
  if (before != nullptr && !raised(*before, after)) return {};
  const auto* label = before == nullptr ? "CSINodeAdd" : "CSINodeUpdate";
  return {of_storage({EventKind::volume_limits, label})};
}

Event volumes_released() { return of_storage({EventKind::volume, "PersistentVolumeUpdate"}); }

Event storage_known() { return of_storage({EventKind::storage_known, "StorageKnown"}); }

std::vector<Event> waiting_pod_changed(const PodRef& before, const PodRef& after) {
  std::vector<Event> events;
  const auto note = [&events, &before, &after](Change change) {
    events.push_back({change.kind, change.label, nullptr, nullptr, before, after});
  };
  const PodSpec& old = before->pod->spec;
  const PodSpec& now = after->pod->spec;
  if (before->pod->metadata.labels != after->pod->metadata.labels) {
    note({EventKind::own_labels, "PodLabelChange"});
  }
  if (scaled_down(before->requests.real, after->requests.real)) {
    note({EventKind::own_scale_down, "PodRequestScaledDown"});
  }
  if (!old.scheduling_gates.empty() && now.scheduling_gates.empty()) {
    note({EventKind::own_gates, "PodSchedulingGatesEliminated"});
  }
  if (old.tolerations != now.tolerations) note({EventKind::own_tolerations, "PodTolerationChange"});
  if (events.empty()) note({EventKind::own_other, "PodUpdate"});
  return events;
}

}  // namespace holdfast::sync::schedule
