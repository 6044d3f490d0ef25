// Decides whether one node has been silent for so long that it counts as lost.
//
// A new heartbeat time of the Ready condition and a renewed lease are signs of life. Their arrival
// is measured on the controller's monotonic clock. Times inside objects are only compared with each
// other, so a wrong clock on an edge node cannot evict anything. After a silence longer than the
// grace period the node's conditions become Unknown. Upstream: tryUpdateNodeHealth().

#pragma once

#include <optional>
#include <vector>

#include "platform/time.h"
#include "sync/lifecycle/facts.h"
#include "sync/lifecycle/options.h"

namespace holdfast::sync::lifecycle {

struct HealthRecord {
  MonoTime probe;                 // when the last sign of life arrived
  MonoTime transition;            // when the last change of Ready arrived
  ConditionFacts ready;           // Ready as last seen
  std::optional<WallTime> lease;  // the latest renewal seen

  bool operator==(const HealthRecord&) const = default;
};

struct HealthAssessment {
  ConditionFacts observed;  // Ready as found, or Unknown if the node has none
  ConditionFacts current;   // Ready after `changes` are written; may be `absent`
  // Complete conditions to write into the status, Ready first. Empty if Ready does not change.
  std::vector<NodeCondition> changes;

  bool operator==(const HealthAssessment&) const = default;
};

// The record of a new node. The grace period of a node with a Ready condition begins now; that of a
// node that has not reported yet began at its creation.
[[nodiscard]] HealthRecord first_seen(MonoTime now, WallTime wall, const NodeFacts& node);

// Records the Ready condition. It is a sign of life if it is new or has another heartbeat time.
void observe(HealthRecord& record, MonoTime now, const ConditionFacts& ready);

// Records a lease renewal. Returns whether it is a sign of life: later than all renewals before.
bool observe_lease(HealthRecord& record, MonoTime now, WallTime renewed);

// Records that the controller itself wrote `ready`. This is a transition, but no sign of life.
void wrote(HealthRecord& record, MonoTime now, const ConditionFacts& ready);

// The node counts as lost strictly after this time.
[[nodiscard]] MonoTime silent_after(const HealthRecord& record, const NodeFacts& node,
                                    const Options& options);

[[nodiscard]] HealthAssessment assess(MonoTime now, WallTime wall, const NodeFacts& node,
                                      const HealthRecord& record, const Options& options);

// Since when a node that is not ready counts as gone: since its transition if Ready is False, since
// its last sign of life otherwise.
[[nodiscard]] MonoTime gone_since(const HealthRecord& record, const ConditionFacts& observed);

}  // namespace holdfast::sync::lifecycle
