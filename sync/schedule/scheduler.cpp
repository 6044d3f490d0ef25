#include "sync/schedule/scheduler.h"

#include <algorithm>
#include <utility>

#include "sync/schedule/extender_filter.h"

namespace holdfast::sync::schedule {
namespace {

PreemptionOptions preemption_of(const SchedulerOptions& options) {
  PreemptionOptions preemption;
  preemption.limits = options.limits;
  for (const ExtenderConfig& extender : options.extenders) {
    preemption.extenders.push_back(extender.rules);
  }
  preemption.for_each = options.for_each;
  return preemption;
}

Status status_of(const Outcome& outcome) {
  if (outcome.ok()) return {};
  return fail(*outcome.error, outcome.text);
}

// The requests name pods by uid, so a conflict means that the pod was deleted.
Settled settled_of(const Outcome& outcome) {
  if (outcome.ok()) return {};
  const Errc code = *outcome.error;
  const bool gone = code == Errc::not_found || code == Errc::conflict || code == Errc::gone;
  return {gone ? Settled::Kind::gone : Settled::Kind::failed, outcome.text};
}

}  // namespace

Scheduler::Scheduler(SchedulerOptions options, MonoTime now, Random random)
    : options_(std::move(options)),
      random_(random),
      preemption_(preemption_of(options_)),
      state_({.scheduler = options_.name, .queue = options_.queue, .fit = options_.plugins.fit},
             now),
      finder_(plugins(options_.plugins), options_.attempt) {}

control::Step<Effect> Scheduler::step(const control::Now& now, const Input& input) {
  monotonic_.check(now.mono);
  now_ = now;
  std::visit([this](const auto& one) { take(one); }, input);
  return {std::exchange(effects_, {}), deadline()};
}

MonoTime Scheduler::deadline() const {
  if (attempt_) return MonoTime::max();  // an extender is being asked
  if (state_.queue().active() > 0) return now_.mono;
  MonoTime next = state_.deadline();
  for (const auto& [uid, waiting] : volume_bindings_) {
    if (waiting.writing == 0) next = std::min(next, waiting.deadline);
  }
  return next;
}

// Applies a change now, or after the attempt under way.
void Scheduler::change(std::function<void()> what) {
  if (attempt_) {
    deferred_.push_back(std::move(what));
  } else {
    what();
  }
}

void Scheduler::take(const control::Changed<Node>& node) {
  change([this, copy = node.object]() mutable { state_.set(now_.mono, std::move(copy)); });
}

void Scheduler::take(const control::Removed<Node>& node) {
  change([this, name = node.name] {
    state_.remove_node(now_.mono, name);
    check_volumes();
  });
}

void Scheduler::take(const control::Changed<Pod>& pod) {
  change([this, copy = pod.object]() mutable {
    state_.set(now_.mono, std::move(copy));
    check_volumes();
  });
}

void Scheduler::take(const control::Removed<Pod>& pod) {
  change([this, gone = pod] {
    state_.remove_pod(now_.mono, gone.namespace_name, gone.name);
    check_volumes();
  });
}

void Scheduler::take(const control::Changed<PodDisruptionBudget>& budget) {
  change([this, copy = budget.object] { state_.set(copy); });
}

void Scheduler::take(const control::Removed<PodDisruptionBudget>& budget) {
  change([this, gone = budget] { state_.remove_budget(gone.namespace_name, gone.name); });
}

void Scheduler::take(const control::Changed<Namespace>& space) {
  change([this, name = space.object.metadata.name, labels = space.object.metadata.labels] {
    state_.cluster().set_namespace(name, labels);
  });
}

void Scheduler::take(const control::Removed<Namespace>& space) {
  change([this, name = space.name] { state_.cluster().remove_namespace(name); });
}

template <class T>
void Scheduler::take(const control::Changed<T>& object) {
  change([this, copy = object.object] {
    state_.set(now_.mono, copy);
    check_volumes();
  });
}

void Scheduler::take(const control::Removed<PersistentVolumeClaim>& claim) {
  change([this, name = ClaimName(claim.namespace_name, claim.name)] {
    state_.cluster().storage().remove_claim(name);
    check_volumes();
  });
}

void Scheduler::take(const control::Removed<PersistentVolume>& volume) {
  change([this, name = volume.name] {
    state_.cluster().storage().remove_volume(name);
    check_volumes();
  });
}

void Scheduler::take(const control::Removed<StorageClass>& storage_class) {
  change([this, name = storage_class.name] { state_.cluster().storage().remove_class(name); });
}

void Scheduler::take(const control::Removed<CsiNode>& node) {
  change([this, name = node.name] { state_.cluster().storage().remove_limits(name); });
}

void Scheduler::take(const StorageMissing& missing) {
  change([this, why = missing.why] { state_.set_storage_missing(now_.mono, why); });
}

void Scheduler::take(const control::TimePassed& /*passed*/) {
  if (attempt_) return;
  check_volumes();
  state_.tick(now_.mono);
  if (auto popped = state_.queue().pop()) begin_attempt(*std::move(popped));
}

void Scheduler::take(const Performed& performed) {
  auto found = under_way_.extract(performed.effect.id);
  if (!found) return;
  const Outcome& outcome = performed.outcome;
  if (auto* binding = std::get_if<Binding>(&found.mapped())) {
    Status bound = status_of(outcome);
    if (bound && binding->by_extender) bound = read_bind_answer(outcome.text);
    change([this, ended = std::move(*binding), bound] { end_binding(ended, bound); });
  } else if (const auto* patches = std::get_if<OfPatches>(&found.mapped())) {
    end_patch(patches->uid, settled_of(outcome));
  } else if (const auto* volumes = std::get_if<OfVolumes>(&found.mapped())) {
    change([this, uid = volumes->uid, outcome] { end_volume_request(uid, outcome); });
  } else if (const auto* of = std::get_if<OfPreemption>(&found.mapped())) {
    const auto steps = of->ongoing->machine.settle(of->step, settled_of(outcome), now_.wall);
    take_steps(of->ongoing, steps);
  } else {
    take_answer(outcome);
  }
}

void Scheduler::emit(EffectBody what, Owner owner) {
  under_way_.emplace(++last_id_, std::move(owner));
  effects_.push_back({last_id_, std::move(what)});
}

void Scheduler::record(RecordEvent event) { effects_.push_back({0, std::move(event)}); }

}  // namespace holdfast::sync::schedule
