// What the scheduler does after an attempt: bindings, status patches, preemption, events.

#include <utility>

#include "sync/schedule/extender_filter.h"
#include "sync/schedule/names.h"
#include "sync/schedule/scheduler.h"

namespace holdfast::sync::schedule {
namespace {

constexpr std::size_t budgets_reported = 5;  // events about invalid budgets for one preemption

FailedAttempt binding_failed(const PodRef& pod, std::string why) {
  return {pod, reject(Code::error, std::move(why)), std::nullopt, std::string()};
}

// The extender that binds the pod, if there is one.
std::optional<std::size_t> binder_of(const std::vector<ExtenderConfig>& extenders,
                                     const PodView& pod) {
  std::optional<std::size_t> binder;
  for (std::size_t index = 0; index < extenders.size(); ++index) {
    const ExtenderConfig& each = extenders[index];
    if (!each.bind_verb.empty() && interested(each.rules, *pod.pod)) binder = index;
  }
  return binder;
}

}  // namespace

// Binds after the pod's status patches have ended: a patch that arrives after the binding would
// mark a bound pod unschedulable.
void Scheduler::begin_binding(Binding binding) {
  const auto patching = patching_.find(binding.popped.pod->uid());
  if (patching != patching_.end()) {
    patching->second.next.reset();
    patching->second.then = std::move(binding);
  } else {
    bind(std::move(binding));
  }
}

void Scheduler::bind(Binding binding) {
  const PodRef pod = binding.popped.pod;
  const auto binder = binder_of(options_.extenders, *pod);
  if (!binder) {
    BindPod effect{key_of(*pod), binding.node};
    emit(std::move(effect), std::move(binding));
    return;
  }
  binding.by_extender = true;
  AskExtender effect{*binder, options_.extenders[*binder].bind_verb,
                     bind_request(*pod, binding.node)};
  emit(std::move(effect), std::move(binding));
}

void Scheduler::end_binding(const Binding& binding, const Status& bound) {
  const PodRef& pod = binding.popped.pod;
  if (bound) {
    state_.bound(now_.mono, pod->uid());
    state_.queue().done(pod->uid());
    record(bound_event(*pod, binding.node));
    notes_.emplace_back(AttemptEnded{"scheduled", binding.began});
    notes_.emplace_back(
        PodBound{pod->name(), binding.node, binding.popped.attempts, binding.popped.first_active});
    return;
  }
  if (binding.by_extender) {
    const auto& extender = options_.extenders.at(*binder_of(options_.extenders, *pod)).rules;
    if (extender.ignorable) {
      // As upstream, the scheduler then binds the pod itself.
      notes_.emplace_back(ExtenderIgnored{extender.url + ": " + bound.error().what});
      Binding own = binding;
      own.by_extender = false;
      emit(BindPod{key_of(*pod), binding.node}, std::move(own));
      return;
    }
  }
  const bool gone = bound.error().code == Errc::not_found;
  const bool ours = !gone && !binding.by_extender;
  const std::string why =
      (ours ? "running Bind plugin \"DefaultBinder\": " : "") + bound.error().what;
  notes_.emplace_back(PodNotBound{pod->name(), binding.node, why});
  state_.forget(now_.mono, pod->uid());
  if (gone) {
    state_.queue().done(pod->uid());
    notes_.emplace_back(AttemptEnded{"error", binding.began});
    return;
  }
  fail_attempt(binding.popped, binding_failed(pod, why), binding.began);
}

void Scheduler::patch(PatchPodStatus wanted) {
  const auto [at, first] = patching_.try_emplace(wanted.pod.uid);
  if (first) {
    OfPatches owner{wanted.pod.uid};
    emit(std::move(wanted), std::move(owner));
    return;
  }
  // A patch is in flight: this one waits, merged with one that waits already.
  std::optional<PatchPodStatus>& next = at->second.next;
  if (next && !wanted.nominated_node) wanted.nominated_node = std::move(next->nominated_node);
  if (next && !wanted.condition) {
    wanted.condition = std::move(next->condition);
    wanted.condition_order = std::move(next->condition_order);
  }
  next = std::move(wanted);
}

void Scheduler::end_patch(const std::string& uid, const Settled& settled) {
  if (settled.kind == Settled::Kind::failed) {
    notes_.emplace_back(StatusNotWritten{uid, settled.error});
  }
  const auto at = patching_.find(uid);
  if (at->second.next) {
    PatchPodStatus next = *std::exchange(at->second.next, std::nullopt);
    emit(std::move(next), OfPatches{uid});
    return;
  }
  std::optional<Binding> then = std::move(at->second.then);
  patching_.erase(at);
  if (then) bind(*std::move(then));
}

void Scheduler::prepare_candidate(const PodRef& pod, const Candidate& chosen) {
  PreparationBegun note{pod->name(), chosen.node, {}};
  for (const PodRef& victim : chosen.victims) note.victims.push_back(victim->name());
  notes_.emplace_back(std::move(note));
  auto nominated = state_.nominator().below(chosen.node, *pod);
  Preparation machine(pod, chosen, std::move(nominated), {}, {});
  ongoing_.push_back({std::move(machine), pod->uid(), now_.mono});
  const OngoingPreemptionAt ongoing = std::prev(ongoing_.end());
  take_steps(ongoing, ongoing->machine.start(now_.wall));
}

void Scheduler::take_steps(OngoingPreemptionAt ongoing, const Preparation::Steps& steps) {
  for (const Preparation::Step& step : steps) {
    const OfPreemption owner{ongoing, step.id};
    if (const auto* patch = std::get_if<PatchPodStatus>(&step.action)) {
      emit(*patch, owner);
    } else if (const auto* clear = std::get_if<ClearNomination>(&step.action)) {
      emit(*clear, owner);
    } else if (const auto* deletion = std::get_if<DeletePod>(&step.action)) {
      emit(*deletion, owner);
    } else if (const auto* gate = std::get_if<SetGate>(&step.action)) {
      state_.gate(gate->uid, gate->shut);
    } else if (const auto* event = std::get_if<RecordEvent>(&step.action)) {
      record(*event);
    } else if (const auto* wake = std::get_if<ActivatePod>(&step.action)) {
      // Upstream tries the pod again at once, as often as its limit of requests permits: also if
      // the API server refuses a write, or if the victims are gone and the watch still shows them.
      state_.queue().retry(now_.mono, wake->uid);
    }
  }
  if (!ongoing->machine.finished()) return;
  notes_.emplace_back(
      PreparationEnded{ongoing->preemptor, ongoing->machine.errors(), ongoing->began});
  ongoing_.erase(ongoing);
}

// An invalid PodDisruptionBudget protects no pod. If a preemption ignored such budgets, an event of
// the preempting pod reports it.
void Scheduler::record_budget_problems(const PodView& pod) {
  std::size_t reported = 0;
  for (const std::string& problem : state_.budgets().problems()) {
    if (++reported > budgets_reported) return;
    record({key_of(pod), std::nullopt, "Warning", "InvalidDisruptionBudget", "Preempting",
            event_note(problem)});
  }
}

}  // namespace holdfast::sync::schedule
