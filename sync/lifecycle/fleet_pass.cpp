// The passes of the Fleet: which nodes are visited, and what is decided for each.

#include <algorithm>
#include <utility>

#include "platform/check.h"
#include "sync/lifecycle/fleet.h"
#include "sync/lifecycle/fleet_member.h"
#include "sync/lifecycle/taints.h"
#include "sync/objects/names.h"

namespace holdfast::sync::lifecycle {
namespace {

// A node without a Ready condition whose turn it is gets another turn after this time, as upstream.
constexpr Duration lookup_retry = std::chrono::milliseconds(50);

}  // namespace

Intents Fleet::pass(MonoTime now, WallTime wall) {
  Intents intents;
  const std::vector<pacing::Deadlines::Id> visits = take_visits(now);
  // As upstream, all nodes are registered or unregistered before any is assessed.
  for (const pacing::Deadlines::Id id : visits) {
    Member& member = *members_[id];
    if (!member.present) {
      unregister_node(member, intents);
    } else if (!member.known) {
      register_node(member, intents);
    }
  }
  for (const pacing::Deadlines::Id id : visits) {
    if (members_[id]) visit(now, wall, *members_[id], intents);
  }
  switch (zones_.end_pass(now)) {
    case Zones::ClusterChange::none:
      break;
    case Zones::ClusterChange::all_went_down:
      stop_all_zones(intents);
      break;
    case Zones::ClusterChange::some_came_back:
      restart_zones(now);
      break;
  }
  return intents;
}

// Sorted by name, so that the same changes give the same intents in the same order.
std::vector<pacing::Deadlines::Id> Fleet::take_visits(MonoTime now) {
  std::vector<pacing::Deadlines::Id> due;
  deadlines_.take_before(now, due);
  for (const pacing::Deadlines::Id id : due) {
    if (members_[id]) touch(*members_[id]);
  }
  std::vector<pacing::Deadlines::Id> visits;
  for (const pacing::Deadlines::Id id : std::exchange(touched_, {})) {
    if (!members_[id] || !members_[id]->touched) continue;
    members_[id]->touched = false;
    visits.push_back(id);
  }
  std::sort(visits.begin(), visits.end(),
            [this](pacing::Deadlines::Id left, pacing::Deadlines::Id right) {
              return members_[left]->facts.name < members_[right]->facts.name;
            });
  return visits;
}

void Fleet::register_node(Member& member, Intents& intents) {
  const std::string& name = member.facts.name;
  member.known = true;
  intents.emplace_back(
      node_event(member.facts, false, "RegisteredNode",
                 "Node " + name + " event: Registered Node " + name + " in Controller"));
  cancel_eviction(member, intents);
}

void Fleet::unregister_node(Member& member, Intents& intents) {
  const std::string& name = member.facts.name;
  if (member.known) {
    intents.emplace_back(
        node_event(member.facts, false, "RemovingNode",
                   "Node " + name + " event: Removing Node " + name + " from Controller"));
  }
  count(member, false, false);
  member.zone->queue.remove(name);
  zones_.leave(*member.zone);
  erase(member);
}

void Fleet::visit(MonoTime now, WallTime wall, Member& member, Intents& intents) {
  if (member.writing) return;  // settle() continues with the node.
  report_autonomy(member, intents);
  HealthAssessment assessment = assess(now, wall, member.facts, member.record, options_);
  count(member, !member.facts.excluded, assessment.current.status == Truth::yes);
  if (!assessment.changes.empty()) {
    member.writing = true;
    member.observed = assessment.observed;
    ++member.attempts;
    intents.emplace_back(UpdateNodeStatus{member.facts.name, member.facts.uid,
                                          member.facts.resource_version, member.record.lease,
                                          std::move(assessment.changes)});
  } else {
    member.attempts = 0;
    proceed(now, wall, member, assessment.observed, assessment.current, intents);
  }
  rearm(now, member);
}

void Fleet::proceed(MonoTime now, WallTime wall, Member& member, const ConditionFacts& observed,
                    const ConditionFacts& current, Intents& intents) {
  if (current.status == Truth::absent) {
    member.marking_due = false;
    return;
  }
  update_withholding(now, member, current, intents);
  if (options_.taint_based_evictions) {
    decide_taints(now, wall, member, observed, intents);
  } else {
    decide_eviction(now, member, observed, intents);
  }
  const bool was_ready = observed.status == Truth::yes;
  if (was_ready && current.status != Truth::yes) {
    intents.emplace_back(node_event(member.facts, false, "NodeNotReady",
                                    "Node " + member.facts.name + " status is now: NodeNotReady"));
    mark_pods(now, member, current, intents);
  } else if (was_ready) {
    member.marking_due = false;
    member.pods_reported = MonoTime::max();
  } else if (member.marking_due || now > marks_again_after(member)) {
    mark_pods(now, member, current, intents);
  }
}

void Fleet::report_autonomy(Member& member, Intents& intents) {
  const bool reads = options_.autonomy == AutonomyMode::withhold || options_.bind_pods;
  const std::string& text = member.facts.autonomy.malformed;
  if (!reads || text == member.reported) return;
  member.reported = text;
  if (text.empty()) return;
  intents.emplace_back(node_event(member.facts, true, "InvalidAutonomyDuration",
                                  "Annotation node.openyurt.io/autonomy-duration is not a valid "
                                  "duration: " +
                                      text + "; it does not make the node autonomous"));
}

void Fleet::update_withholding(MonoTime now, Member& member, const ConditionFacts& current,
                               Intents& intents) {
  const MonoTime since = gone_since(member.record, current);
  const bool on = current.status != Truth::yes &&
                  is_withheld(member.facts.autonomy, options_.autonomy, since, now);
  if (on == member.withheld) return;
  member.withheld = on;
  // The node's pods keep their Ready condition for now and are marked when the withholding ends.
  if (on && options_.autonomy == AutonomyMode::withhold) member.marking_due = true;
  intents.emplace_back(WithholdEvictions{member.facts.name, on});
}

void Fleet::decide_taints(MonoTime now, WallTime wall, Member& member,
                          const ConditionFacts& observed, Intents& intents) {
  const std::string& name = member.facts.name;
  const bool silent = observed.status == Truth::unknown;
  const bool withheld = member.withheld && options_.autonomy == AutonomyMode::withhold;
  if (withheld || observed.status == Truth::yes) {
    cancel_eviction(member, intents);
    return;
  }
  if (!silent && observed.status != Truth::no) return;
  const std::string_view wanted = silent ? objects::taint_unreachable : objects::taint_not_ready;
  const std::string_view opposite = silent ? objects::taint_not_ready : objects::taint_unreachable;
  // As upstream, a node that has one of the NoExecute taints gets the other one at once, without a
  // turn in the queue.
  if (has_taint(member.facts.taints, opposite, objects::no_execute)) {
    append(intents,
           no_execute_taint(wall, member.facts, observed.status, TaintCause::swap, options_));
  } else if (has_taint(member.facts.taints, wanted, objects::no_execute)) {
    member.zone->queue.add(now, name);
  } else {
    member.zone->queue.add_again(now, name);
  }
}

void Fleet::decide_eviction(MonoTime now, Member& member, const ConditionFacts& observed,
                            Intents& intents) {
  if (observed.status == Truth::yes) {
    cancel_eviction(member, intents);
    return;
  }
  if (observed.status != Truth::no && observed.status != Truth::unknown) return;
  const MonoTime since = gone_since(member.record, observed);
  if (is_withheld(member.facts.autonomy, options_.autonomy, since, now)) {
    cancel_eviction(member, intents);
  } else if (now > since + options_.pod_eviction_timeout) {
    evict(now, member, intents);
  }
}

void Fleet::evict(MonoTime now, Member& member, Intents& intents) {
  if (member.mark == EvictionMark::evicted) {
    intents.emplace_back(EvictPods{member.facts.name, false});
    return;
  }
  member.mark = EvictionMark::queued;
  member.zone->queue.add(now, member.facts.name);
}

// Removes the node from its zone's queue and takes its NoExecute taints off.
void Fleet::cancel_eviction(Member& member, Intents& intents) {
  member.zone->queue.remove(member.facts.name);
  member.mark = EvictionMark::none;
  if (!options_.taint_based_evictions) return;
  const bool unseen = member.patches > 0 || std::exchange(member.taint_unseen, false);
  if (!unseen) {
    append(intents, remove_no_execute(member.facts, options_));
    return;
  }
  // A NoExecute taint is being written, or was, and is not in `facts` yet. The removal names both
  // taints, so that it also removes the one that arrives before it.
  NodeFacts arrived = member.facts;
  for (const std::string_view key : {objects::taint_unreachable, objects::taint_not_ready}) {
    if (has_taint(arrived.taints, key, objects::no_execute)) continue;
    arrived.taints.push_back(make_taint(key, objects::no_execute, WallTime{}));
  }
  append(intents, remove_no_execute(arrived, options_));
}

MonoTime Fleet::marks_again_after(const Member& member) const {
  const bool is_unknown = member.facts.ready().status == Truth::unknown;
  if (!is_unknown || member.pods_reported == MonoTime::max()) return MonoTime::max();
  return std::max(silent_after(member.record, member.facts, options_),
                  member.pods_reported + options_.monitor_grace);
}

void Fleet::mark_pods(MonoTime now, Member& member, const ConditionFacts& current,
                      Intents& intents) {
  const MonoTime since = gone_since(member.record, current);
  if (keeps_pods_ready(member.facts.autonomy, options_.autonomy, since, now)) return;
  member.marking_due = false;
  member.pods_reported = MonoTime::max();
  intents.emplace_back(MarkPods{member.facts.name});
}

void Fleet::stop_all_zones(Intents& intents) {
  for (const auto& member : members_) {
    if (!member || !member->present || member->zone == nullptr) continue;
    cancel_eviction(*member, intents);
    // The next pass queues unready nodes again, so that they already wait when the zones restart.
    if (member->facts.ready().status != Truth::yes) touch(*member);
  }
}

void Fleet::restart_zones(MonoTime now) {
  restart_graces(now);
  for (const auto& member : members_) {
    if (member && member->present && member->facts.ready().status != Truth::yes) touch(*member);
  }
}

Intents Fleet::drain(MonoTime now, WallTime wall) {
  Intents intents;
  for (auto& [key, zone] : zones_.all()) {
    while (const auto name = zone.queue.take(now)) take_turn(now, wall, zone, *name, intents);
  }
  return intents;
}

void Fleet::take_turn(MonoTime now, WallTime wall, Zone& zone, const std::string& name,
                      Intents& intents) {
  Member* member = find(name);
  if (member == nullptr || !member->present) {
    zone.queue.done(name);
    return;
  }
  if (!options_.taint_based_evictions) {
    intents.emplace_back(EvictPods{name, true});
    return;
  }
  const Truth ready = member->facts.ready().status;
  // The node may have changed while it waited in the queue.
  if (ready == Truth::absent) {
    zone.queue.again(now, name, lookup_retry);
  } else if ((ready != Truth::no && ready != Truth::unknown) || withholds_evictions(now, name)) {
    zone.queue.done(name);
  } else {
    std::vector<PatchTaints> patches =
        no_execute_taint(wall, member->facts, ready, TaintCause::queued, options_);
    member->patches = static_cast<int>(patches.size());
    append(intents, std::move(patches));
  }
}

}  // namespace holdfast::sync::lifecycle
