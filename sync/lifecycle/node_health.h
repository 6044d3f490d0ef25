// Decides for one node whether its silence means that it is lost.
//
// A node lives while its Ready heartbeat or its lease changes. When either changed is measured on
// our clock; the times inside the objects are only compared with each other, so a wrong clock at
// the edge cannot evict anything. Silent for longer than the grace, a node's conditions become
// Unknown. Behaviour and table: nlc.md section 7.

#pragma once

#include <optional>
#include <vector>

#include "platform/time.h"
#include "sync/lifecycle/facts.h"
#include "sync/lifecycle/options.h"

namespace holdfast::sync::lifecycle {

struct HealthRecord {
  MonoTime probe;                 // the last sign of life
  MonoTime transition;            // when Ready was last seen to change
  ConditionFacts ready;           // as last seen
  std::optional<WallTime> lease;  // the latest renewal seen

  bool operator==(const HealthRecord&) const = default;
};

struct HealthAssessment {
  ConditionFacts observed;  // Ready as found; a made-up Unknown when there is none
  ConditionFacts current;   // Ready as it ought to be; `absent` is possible
  // What to write into the status, complete conditions; empty when Ready does not change.
  std::vector<NodeCondition> changes;

  bool operator==(const HealthAssessment&) const = default;
};

// A node that has Ready starts with a full grace; one that never reported counts from its creation.
[[nodiscard]] HealthRecord first_seen(MonoTime now, WallTime wall, const NodeFacts& node);

// Takes note of the Ready condition. Only a heartbeat time that differs is a beat.
void observe(HealthRecord& record, MonoTime now, const ConditionFacts& ready);

// Takes note of a lease. Only a renewal later than the latest seen is a beat; says whether it was.
bool observe_lease(HealthRecord& record, MonoTime now, WallTime renewed);

// After these were written: the transition counts from now, the silence goes on.
void wrote(HealthRecord& record, MonoTime now, const ConditionFacts& ready);

// The node is lost strictly after this.
[[nodiscard]] MonoTime silent_after(const HealthRecord& record, const NodeFacts& node,
                                    const Options& options);

[[nodiscard]] HealthAssessment assess(MonoTime now, WallTime wall, const NodeFacts& node,
                                      const HealthRecord& record, const Options& options);

// Since when a node that is not ready counts as gone: from its last sign of life when it is silent,
// from the transition when it says so itself.
[[nodiscard]] MonoTime gone_since(const HealthRecord& record, const ConditionFacts& observed);

}  // namespace holdfast::sync::lifecycle
