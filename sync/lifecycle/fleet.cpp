#include "sync/lifecycle/fleet.h"

#include <algorithm>
#include <utility>

#include "platform/check.h"
#include "sync/lifecycle/fleet_member.h"
#include "sync/lifecycle/taints.h"

namespace holdfast::sync::lifecycle {

Fleet::Fleet(const Options& options) : options_(options), zones_(options) {}

Fleet::~Fleet() = default;

void Fleet::set_node(MonoTime now, WallTime wall, NodeFacts node) {
  Member& member = this->member(node.name);
  const bool first = member.zone == nullptr;
  const bool replaced = !first && member.facts.uid != node.uid;
  if (first || replaced) {
    // Keep the known renewal: the same lease delivered again must not count as a sign of life. For
    // a new node, the lease that arrived before it does count.
    const std::optional<WallTime> lease = member.record.lease;
    member.record = first_seen(now, wall, node);
    if (lease && first) member.record.probe = now;
    member.record.lease = lease;
  } else {
    observe(member.record, now, node.ready());
  }
  if (first || member.facts.zone != node.zone) enter_zone(now, member, node.zone);
  if (first || !member.present || differ_beyond_heartbeat(member.facts, node)) touch(member);
  member.present = true;
  member.facts = std::move(node);
  if (replaced || has_no_execute(member.facts)) member.taint_unseen = false;
  rearm(now, member);
}

void Fleet::remove_node(const std::string& name) {
  Member* member = find(name);
  if (member == nullptr || !member->present) return;
  member->present = false;
  if (member->known) {
    touch(*member);
    return;
  }
  // No pass has registered the node, so none has to unregister it. If the node lifecycle controller
  // is not enabled there are no passes at all, so erase the node here.
  count(*member, false, false);
  member->zone->queue.remove(name);
  zones_.leave(*member->zone);
  erase(*member);
}

void Fleet::set_lease(MonoTime now, const std::string& node, WallTime renewed) {
  Member& member = this->member(node);
  if (observe_lease(member.record, now, renewed) && member.present) rearm(now, member);
}

void Fleet::remove_lease(const std::string& node) {
  Member* member = find(node);
  if (member != nullptr && member->zone == nullptr) erase(*member);
}

Intents Fleet::settle(MonoTime now, WallTime wall, const UpdateNodeStatus& update,
                      const Outcome& outcome) {
  Intents intents;
  Member* member = find(update.node);
  if (member == nullptr || !member->writing || member->facts.uid != update.uid) return intents;
  member->writing = false;
  if (outcome.ok()) {
    const NodeCondition& ready = update.conditions.front();
    const ConditionFacts written{Truth::unknown, ready.last_heartbeat_time,
                                 ready.last_transition_time};
    wrote(member->record, now, written);
    NodeFacts facts = outcome.node ? *outcome.node : member->facts;
    if (!outcome.node) facts.condition(ConditionType::ready) = written;
    set_node(now, wall, std::move(facts));
    touch(*member);  // The next pass observes what was written now and queues the taint.
    proceed(now, wall, *member, member->observed, written, intents);
    rearm(now, *member);
    return intents;
  }
  // The server has newer objects than our watch: assess the node again with them at once. After
  // other failures, or too many attempts, the next pass does it.
  if (outcome.renewed) set_lease(now, update.node, *outcome.renewed);
  if (outcome.node) set_node(now, wall, *outcome.node);
  if ((outcome.node || outcome.renewed) && member->attempts < options_.status_attempts_max) {
    visit(now, wall, *member, intents);
    return intents;
  }
  member->attempts = 0;
  touch(*member);
  rearm(now, *member);
  return intents;
}

void Fleet::settle(MonoTime now, const PatchTaints& patch, const Outcome& outcome) {
  Member* member = find(patch.node);
  if (member == nullptr || member->zone == nullptr) return;
  if (patch.cause != TaintCause::queued) {
    if (!outcome.ok() && patch.cause != TaintCause::conditions) touch(*member);
    return;
  }
  // The node's turn in its queue ends with the last of its patches.
  if (!outcome.ok()) member->patch_failed = true;
  if (member->patches == 0) return;
  if (--member->patches > 0) return;
  const bool failed = std::exchange(member->patch_failed, false);
  if (failed) {
    member->zone->queue.again(now, patch.node, Duration::zero());
  } else {
    member->zone->queue.done(patch.node);
    ++member->zone->evictions;
    member->taint_unseen = !has_no_execute(member->facts);
  }
}

void Fleet::settle(MonoTime now, const EvictPods& eviction, const Outcome& outcome) {
  Member* member = find(eviction.node);
  if (member == nullptr || member->zone == nullptr || !eviction.queued) return;
  if (!outcome.ok()) {
    member->zone->queue.again(now, eviction.node, Duration::zero());
    return;
  }
  member->zone->queue.done(eviction.node);
  // If the node became ready meanwhile, its mark was reset and stays `none`.
  if (member->mark == EvictionMark::queued) member->mark = EvictionMark::evicted;
  if (member->present) ++member->zone->evictions;
}

PodAction Fleet::pod_assigned(MonoTime now, const std::string& node) {
  Member* member = find(node);
  if (member == nullptr || !member->present) return {};
  const ConditionFacts& ready = member->record.ready;
  if (ready.status == Truth::absent) return {};
  PodAction action;
  if (!options_.taint_based_evictions) {
    Intents intents;
    decide_eviction(now, *member, ready, intents);
    action.evict = !intents.empty();
  }
  if (ready.status == Truth::yes) return action;
  const MonoTime since = gone_since(member->record, ready);
  action.mark = !keeps_pods_ready(member->facts.autonomy, options_.autonomy, since, now);
  if (!action.mark && options_.autonomy == AutonomyMode::withhold) member->marking_due = true;
  return action;
}

void Fleet::pods_left_unmarked(const std::string& node) {
  Member* member = find(node);
  if (member == nullptr || !member->present) return;
  member->marking_due = true;
  touch(*member);
}

void Fleet::pod_became_ready(MonoTime now, const std::string& node) {
  Member* member = find(node);
  if (!options_.mark_pods_again || member == nullptr || !member->present) return;
  if (member->facts.ready().status != Truth::unknown) return;
  member->pods_reported = std::min(member->pods_reported, now);
  rearm(now, *member);
}

void Fleet::restart_graces(MonoTime now) {
  for (const auto& member : members_) {
    if (!member || !member->present) continue;
    member->record.probe = now;
    member->record.transition = now;
    rearm(now, *member);
  }
}

bool Fleet::withholds_evictions(MonoTime now, const std::string& node) const {
  const Member* member = find(node);
  if (member == nullptr || !member->present) return false;
  const ConditionFacts& ready = member->facts.ready();
  if (ready.status == Truth::yes || ready.status == Truth::absent) return false;
  const MonoTime since = gone_since(member->record, ready);
  return is_withheld(member->facts.autonomy, options_.autonomy, since, now);
}

const NodeFacts* Fleet::node(const std::string& name) const {
  const Member* member = find(name);
  return member != nullptr && member->present ? &member->facts : nullptr;
}

Fleet::Member& Fleet::member(const std::string& name) {
  if (Member* found = find(name)) return *found;
  if (free_.empty()) {
    free_.push_back(static_cast<pacing::Deadlines::Id>(members_.size()));
    members_.emplace_back();
  }
  const pacing::Deadlines::Id id = free_.back();
  free_.pop_back();
  members_[id] = std::make_unique<Member>();
  members_[id]->id = id;
  members_[id]->facts.name = name;
  by_name_.emplace(name, id);
  return *members_[id];
}

Fleet::Member* Fleet::find(const std::string& name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : members_[found->second].get();
}

void Fleet::erase(Member& member) {
  const pacing::Deadlines::Id id = member.id;
  deadlines_.clear(id);
  by_name_.erase(member.facts.name);
  members_[id].reset();
  free_.push_back(id);
}

void Fleet::touch(Member& member) {
  if (member.touched) return;
  member.touched = true;
  touched_.push_back(member.id);
}

void Fleet::rearm(MonoTime now, Member& member) {
  // The earliest time at which something about the node changes without an input: its silence
  // exceeds the grace, its pods become due for direct eviction, or its autonomy ends.
  const ConditionFacts& ready = member.facts.ready();
  MonoTime when = MonoTime::max();
  if (ready.status != Truth::unknown && !member.writing) {
    when = silent_after(member.record, member.facts, options_);
  }
  when = std::min(when, marks_again_after(member));
  if (ready.status == Truth::no || ready.status == Truth::unknown) {
    const MonoTime since = gone_since(member.record, ready);
    if (!options_.taint_based_evictions)
      when = std::min(when, since + options_.pod_eviction_timeout);
    const bool held = is_withheld(member.facts.autonomy, options_.autonomy, since, now);
    if (held) when = std::min(when, withheld_until(member.facts.autonomy, since));
  }
  deadlines_.set(member.id, when);
}

void Fleet::enter_zone(MonoTime now, Member& member, const std::string& key) {
  count(member, false, false);
  if (member.zone != nullptr) {
    member.zone->queue.remove(member.facts.name);
    zones_.leave(*member.zone);
  }
  member.zone = &zones_.join(now, key);
}

void Fleet::count(Member& member, bool counts, bool ready) {
  if (member.counted_in != nullptr) {
    ZoneCount& old = member.counted_in->count;
    --(member.counted_ready ? old.ready : old.unready);
  }
  member.counted_in = counts ? member.zone : nullptr;
  member.counted_ready = ready;
  if (!counts) return;
  ZoneCount& fresh = member.zone->count;
  ++(ready ? fresh.ready : fresh.unready);
}

void Fleet::check_invariants() const {
  CHECK(members_.size() == by_name_.size() + free_.size());
  std::map<const Zone*, std::size_t> members;
  std::map<const Zone*, ZoneCount> counts;
  for (const auto& [name, id] : by_name_) {
    const Member& member = *members_.at(id);
    CHECK(member.id == id && member.facts.name == name);
    ++members[member.zone];
    if (member.counted_in == nullptr) continue;
    CHECK(member.counted_in == member.zone);
    ZoneCount& count = counts[member.counted_in];
    ++(member.counted_ready ? count.ready : count.unready);
  }
  for (const auto& [key, zone] : zones_.all()) {
    CHECK(zone.members == members[&zone]);
    CHECK(zone.count == counts[&zone]);
  }
}

}  // namespace holdfast::sync::lifecycle
