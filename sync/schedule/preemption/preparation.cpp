#include "sync/schedule/preemption/preparation.h"

#include <algorithm>

#include "platform/check.h"
#include "sync/schedule/names.h"

namespace holdfast::sync::schedule {
namespace {

constexpr std::size_t no_victim = static_cast<std::size_t>(-1);

PodCondition disruption(const PodView& preemptor) {
  PodCondition condition;
  condition.type = condition_disruption;
  condition.status = "True";
  condition.reason = reason_by_scheduler;
  condition.message =
      preemptor.pod->spec.scheduler_name + ": preempting to accommodate a higher priority pod";
  return condition;
}

}  // namespace

Preparation::Preparation(PodRef pod, Candidate candidate, std::vector<PodRef> nominated,
                         std::set<std::string> waiting, const PreparationOptions& options)
    : pod_(std::move(pod)),
      node_(std::move(candidate.node)),
      nominated_(std::move(nominated)),
      waiting_(std::move(waiting)),
      options_(options) {
  for (PodRef& victim : candidate.victims) {
    if (options_.skip_terminating && victim->pod->metadata.deletion_timestamp) continue;
    victims_.push_back({std::move(victim)});
  }
}

Preparation::Steps Preparation::start(WallTime now) {
  CHECK(phase_ == Phase::idle);
  Steps steps;
  if (!options_.async) {
    enter(Phase::victims, now, steps);
  } else if (victims_.empty() && options_.skip_terminating) {
    phase_ = Phase::finished;  // All victims are terminating; their end causes events.
  } else {
    steps.push_back({0, SetGate{pod_->uid(), true}});
    enter(Phase::promises, now, steps);
  }
  return steps;
}

void Preparation::enter(Phase phase, WallTime now, Steps& steps) {
  phase_ = phase;
  stopped_ = false;
  if (phase == Phase::promises) {
    for (const PodRef& pod : nominated_) {
      if (pod->pod->status.nominated_node_name.empty()) continue;
      ask(no_victim, ClearNomination{key_of(*pod)}, steps);
    }
  } else if (phase == Phase::victims) {
    // In the asynchronous mode the last victim has a phase of its own.
    const std::size_t count = victims_.size() - (options_.async && !victims_.empty() ? 1 : 0);
    for (std::size_t i = 0; i < count; ++i) begin(i, now, steps);
  } else if (phase == Phase::last_victim) {
    steps.push_back({0, SetGate{pod_->uid(), false}});
    if (!victims_.empty()) begin(victims_.size() - 1, now, steps);
  } else {
    return finish(steps);
  }
  if (asked_ == 0) next_phase(now, steps);
}

void Preparation::next_phase(WallTime now, Steps& steps) {
  if (options_.async) {
    const Phase next = phase_ == Phase::promises  ? Phase::victims
                       : phase_ == Phase::victims ? Phase::last_victim
                                                  : Phase::finished;
    return enter(next, now, steps);
  }
  const bool go_on = phase_ == Phase::victims && fit_status_.ok();
  enter(go_on ? Phase::promises : Phase::finished, now, steps);
}

void Preparation::finish(Steps& steps) {
  if (!options_.async) return;
  // If no victim was deleted by us, no event may follow that wakes the pod.
  const bool unheard = options_.tolerate_gone && !victims_.empty() && !any_left_;
  if (any_failed_ || unheard) steps.push_back({0, ActivatePod{pod_->uid()}});
}

void Preparation::ask(std::size_t index, Action action, Steps& steps) {
  open_.emplace_back(++last_id_, index);
  ++asked_;
  steps.push_back({last_id_, std::move(action)});
}

void Preparation::begin(std::size_t index, WallTime now, Steps& steps) {
  Victim& victim = victims_[index];
  const PodView& pod = *victim.pod;
  if (waiting_.contains(pod.uid())) {
    steps.push_back({0, RejectWaiting{key_of(pod), std::string(plugin_preemption), "preempted"}});
    record_event(pod, steps);
    victim.stage = Stage::over;
    any_left_ = true;
    return;
  }
  // A victim that has the condition already is deleted without a patch.
  const auto condition = changed_condition(pod.pod->status, disruption(*pod_), now);
  if (!condition) return erase(index, steps);
  victim.stage = Stage::patching;
  ask(index,
      PatchPodStatus{key_of(pod), condition, condition_order(pod.pod->status, condition->type),
                     std::nullopt},
      steps);
}

void Preparation::erase(std::size_t index, Steps& steps) {
  victims_[index].stage = Stage::deleting;
  ask(index, DeletePod{key_of(*victims_[index].pod)}, steps);
}

void Preparation::record_event(const PodView& victim, Steps& steps) const {
  const std::string note = "Preempted by pod " + pod_->uid() + " on node " + node_;
  steps.push_back({0, RecordEvent{key_of(victim), key_of(*pod_), "Normal", "Preempted",
                                  "Preempting", event_note(note)}});
}

void Preparation::failed(const std::string& error) {
  any_failed_ = true;
  errors_.push_back(error);
  if (phase_ == Phase::promises) return;
  stopped_ = true;
  if (!options_.async && fit_status_.ok()) fit_status_ = reject(Code::error, error);
}

void Preparation::settle_victim(std::size_t index, const Settled& settled, Steps& steps) {
  Victim& victim = victims_[index];
  const bool patched = victim.stage == Stage::patching;
  const bool tolerated = !patched || options_.tolerate_gone;
  victim.stage = Stage::over;
  if (settled.kind == Settled::Kind::gone && tolerated) return;
  if (settled.kind != Settled::Kind::done) return failed(settled.error);
  if (patched) {
    if (!stopped_) erase(index, steps);
    return;
  }
  any_left_ = true;
  record_event(*victim.pod, steps);
}

Preparation::Steps Preparation::settle(std::uint64_t id, const Settled& settled, WallTime now) {
  const auto at = std::find_if(open_.begin(), open_.end(),
                               [id](const auto& entry) { return entry.first == id; });
  CHECK(at != open_.end());
  const std::size_t index = at->second;
  open_.erase(at);
  --asked_;
  Steps steps;
  if (index != no_victim) {
    settle_victim(index, settled, steps);
  } else if (settled.kind == Settled::Kind::failed) {
    failed(settled.error);
  }
  if (asked_ == 0) next_phase(now, steps);
  return steps;
}

FitStatus preemption_gate(const PodView& pod, bool async, const std::set<std::string>& preempting) {
  if (!async || !preempting.contains(pod.uid())) return {};
  return reject(Code::unresolvable, std::string(reason_preempting), plugin_preemption);
}

}  // namespace holdfast::sync::schedule
