#include "sync/lifecycle/node_health.h"

#include <algorithm>

#include "sync/objects/names.h"

namespace holdfast::sync::lifecycle {
namespace {

ConditionFacts observed_ready(const NodeFacts& node) {
  if (node.ready().status != Truth::absent) return node.ready();
  return {Truth::unknown, node.created, node.created};
}

// Converts the wall time `then` to monotonic time. A creation time in the future, which means that
// the server's clock is ahead of ours, becomes `now`. A time more than a century ago, which no
// cluster has seen, counts as a century ago: a Duration cannot hold more than 292 years.
MonoTime instant_of(WallTime then, MonoTime now, WallTime wall) {
  constexpr Duration longest = std::chrono::hours(100 * 365 * 24);
  if (then >= wall) return now;
  return then > wall - longest ? now - (wall - then) : now - longest;
}

NodeCondition unknown_condition(ConditionType type, const ConditionFacts& found, WallTime wall,
                                const NodeFacts& node) {
  const bool never = found.status == Truth::absent;
  NodeCondition condition;
  condition.type = to_string(type);
  condition.status = objects::status_unknown;
  condition.last_heartbeat_time = never ? node.created : found.heartbeat;
  condition.last_transition_time = wall;
  condition.reason = never ? objects::reason_never_updated : objects::reason_status_unknown;
  condition.message = never ? objects::message_never_updated : objects::message_status_unknown;
  return condition;
}

}  // namespace

HealthRecord first_seen(MonoTime now, WallTime wall, const NodeFacts& node) {
  if (node.ready().status != Truth::absent) return {now, now, node.ready(), {}};
  const MonoTime created = instant_of(node.created, now, wall);
  return {created, created, {}, {}};
}

void observe(HealthRecord& record, MonoTime now, const ConditionFacts& ready) {
  if (ready.status != Truth::absent) {
    const bool appeared = record.ready.status == Truth::absent;
    const bool beat = appeared || ready.heartbeat != record.ready.heartbeat;
    if (beat) record.probe = now;
    if (appeared || (beat && ready.transition != record.ready.transition)) record.transition = now;
  }
  record.ready = ready;
}

bool observe_lease(HealthRecord& record, MonoTime now, WallTime renewed) {
  if (record.lease && renewed <= *record.lease) return false;
  record.lease = renewed;
  record.probe = now;
  return true;
}

void wrote(HealthRecord& record, MonoTime now, const ConditionFacts& ready) {
  record.ready = ready;
  record.transition = now;
}

MonoTime silent_after(const HealthRecord& record, const NodeFacts& node, const Options& options) {
  const bool posted = node.ready().status != Truth::absent;
  return record.probe + (posted ? options.monitor_grace : options.startup_grace);
}

HealthAssessment assess(MonoTime now, WallTime wall, const NodeFacts& node,
                        const HealthRecord& record, const Options& options) {
  HealthAssessment assessment{observed_ready(node), node.ready(), {}};
  const bool silent = now > silent_after(record, node, options);
  // Ready alone decides whether to write; the other conditions are written along with it.
  if (!silent || node.ready().status == Truth::unknown) return assessment;
  for (const ConditionType type :
       {ConditionType::ready, ConditionType::out_of_disk, ConditionType::memory,
        ConditionType::disk, ConditionType::pid}) {
    const ConditionFacts& found = node.condition(type);
    const bool unheard_of = type == ConditionType::out_of_disk && found.status == Truth::absent;
    if (found.status == Truth::unknown || unheard_of) continue;
    assessment.changes.push_back(unknown_condition(type, found, wall, node));
  }
  const NodeCondition& ready = assessment.changes.front();
  assessment.current = {Truth::unknown, ready.last_heartbeat_time, ready.last_transition_time};
  return assessment;
}

MonoTime gone_since(const HealthRecord& record, const ConditionFacts& observed) {
  return observed.status == Truth::no ? record.transition : record.probe;
}

}  // namespace holdfast::sync::lifecycle
