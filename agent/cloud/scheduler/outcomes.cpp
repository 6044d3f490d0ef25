// What the scheduler does after an attempt: bindings, status patches, preemption, events.

#include <utility>

#include "agent/cloud/scheduler/scheduler.h"
#include "platform/log.h"
#include "sync/schedule/extender_filter.h"
#include "sync/schedule/names.h"

namespace holdfast::agent {

namespace schedule = sync::schedule;

namespace {

constexpr std::size_t budgets_told = 5;  // events about invalid budgets for one preemption

schedule::FailedAttempt binding_failed(const schedule::PodRef& pod, std::string why) {
  return {pod, schedule::reject(schedule::Code::error, std::move(why)), std::nullopt,
          std::string()};
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
    writes_.add(bind(std::move(binding)));
  }
}

asio::awaitable<void> Scheduler::bind(Binding binding) {
  const schedule::PodRef pod = binding.popped.pod;
  Status bound;
  ExtenderCaller* binder = nullptr;
  for (const auto& each : extenders_) {
    const bool binds = !each->plan().bind_verb.empty();
    if (binds && schedule::interested(each->plan().rules, *pod->pod)) binder = each.get();
  }
  if (binder != nullptr) {
    std::string body = schedule::bind_request(*pod, binding.node);
    const auto answer = co_await binder->ask(binder->plan().bind_verb, std::move(body));
    if (answer) {
      bound = schedule::read_bind_answer(*answer);
    } else {
      bound = fail(answer.error());
    }
  } else {
    bound = co_await writer_.bind(schedule::key_of(*pod), binding.node);
    if (!bound && bound.error().code != Errc::not_found) {
      bound = fail("running Bind plugin \"DefaultBinder\"", bound.error());
    }
  }
  change([this, binding, bound] { end_binding(binding, bound); });
}

void Scheduler::end_binding(const Binding& binding, const Status& bound) {
  const schedule::PodRef& pod = binding.popped.pod;
  const MonoTime now = clock_.mono();
  if (bound) {
    books_.bound(now, pod->uid());
    books_.queue().done(pod->uid());
    tell(schedule::bound_event(*pod, binding.node));
    metrics_.attempted("scheduled", now - binding.began);
    metrics_.scheduled(binding.popped.attempts, now - binding.popped.first_active);
    log_debug("pod bound", {{"pod", pod->name()}, {"node", binding.node}});
    return;
  }
  log_info("pod not bound",
           {{"pod", pod->name()}, {"node", binding.node}, {"error", bound.error()}});
  // Releases the resources that were counted for the assumed pod.
  books_.forget(now, pod->uid());
  if (bound.error().code == Errc::not_found) {
    books_.queue().done(pod->uid());
    metrics_.attempted("error", now - binding.began);
    return;
  }
  fail_attempt(binding.popped, binding_failed(pod, bound.error().what), binding.began);
}

// Merges with a patch that waits: the newest value of each field wins.
void Scheduler::patch(schedule::PatchPodStatus wanted) {
  const auto [at, first] = patching_.try_emplace(wanted.pod.uid);
  if (first) {
    writes_.add(write_patches(std::move(wanted)));
    return;
  }
  std::optional<schedule::PatchPodStatus>& next = at->second.next;
  if (next && !wanted.nominated_node) wanted.nominated_node = std::move(next->nominated_node);
  if (next && !wanted.condition) {
    wanted.condition = std::move(next->condition);
    wanted.condition_order = std::move(next->condition_order);
  }
  next = std::move(wanted);
}

asio::awaitable<void> Scheduler::write_patches(schedule::PatchPodStatus first) {
  const std::string uid = first.pod.uid;
  schedule::Action action = std::move(first);
  for (;;) {
    const auto settled = co_await writer_.perform(std::move(action));
    if (settled.way == schedule::Settled::Way::failed) {
      log_warn("pod status not written", {{"uid", uid}, {"error", settled.error}});
    }
    const auto at = patching_.find(uid);
    if (!at->second.next) {
      std::optional<Binding> then = std::move(at->second.then);
      patching_.erase(at);
      if (then) writes_.add(bind(*std::move(then)));
      co_return;
    }
    action = *std::exchange(at->second.next, std::nullopt);
  }
}

void Scheduler::make_room(const schedule::PodRef& pod, const schedule::Candidate& chosen) {
  metrics_.victims(chosen.victims.size());
  std::string names;
  for (const schedule::PodRef& victim : chosen.victims) names += " " + victim->name();
  log_info("preempt", {{"pod", pod->name()}, {"node", chosen.node}, {"victims", names}});
  // Pods with lower priority that were promised room on this node lose that promise.
  auto promised = books_.nominator().below(chosen.node, *pod);
  schedule::Preparation machine(pod, chosen, std::move(promised), {}, {});
  making_.push_back({std::move(machine), pod->uid(), clock_.mono()});
  const MakingAt making = std::prev(making_.end());
  take_steps(making, making->machine.start(clock_.wall()));
}

void Scheduler::take_steps(MakingAt making, const schedule::Preparation::Steps& steps) {
  for (const schedule::Preparation::Step& step : steps) {
    if (step.id != 0) {
      writes_.add(take_step(making, step));
    } else if (const auto* gate = std::get_if<schedule::SetGate>(&step.action)) {
      books_.gate(gate->uid, gate->shut);
    } else if (const auto* event = std::get_if<schedule::RecordEvent>(&step.action)) {
      tell(*event);
    } else if (const auto* wake = std::get_if<schedule::ActivatePod>(&step.action)) {
      books_.queue().activate(clock_.mono(), wake->uid);
      changed_.notify_all();
    }
  }
  if (!making->machine.finished()) return;
  metrics_.prepared(making->machine.errors().empty(), clock_.mono() - making->began);
  for (const std::string& error : making->machine.errors()) {
    log_warn("preemption", {{"preemptor", making->preemptor}, {"error", error}});
  }
  making_.erase(making);
}

asio::awaitable<void> Scheduler::take_step(MakingAt making, schedule::Preparation::Step step) {
  const auto settled = co_await writer_.perform(std::move(step.action));
  const auto steps = making->machine.settle(step.id, settled, clock_.wall());
  take_steps(making, steps);
}

void Scheduler::tell(const schedule::RecordEvent& event) {
  auto write = events_.record(clock_.mono(), clock_.wall(), event);
  if (write) (void)telling_.add(send_event(*std::move(write)));
}

asio::awaitable<void> Scheduler::send_event(EventWrite write) {
  (void)co_await sender_.record(std::move(write));
}

// An invalid PodDisruptionBudget protects no pod. If a preemption ignored such budgets, an event of
// the preempting pod reports it.
void Scheduler::tell_of_budgets(const schedule::PodView& pod) {
  std::size_t told = 0;
  for (const std::string& problem : books_.budgets().problems()) {
    if (++told > budgets_told) return;
    tell({schedule::key_of(pod), std::nullopt, "Warning", "InvalidDisruptionBudget", "Preempting",
          schedule::event_note(problem)});
  }
}

}  // namespace holdfast::agent
