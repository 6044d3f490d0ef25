// One scheduling attempt: filters, extenders and scores. If no node fits, preemption is tried and
// the pod returns to the queue.

#include <algorithm>
#include <utility>

#include "sync/schedule/extender_filter.h"
#include "sync/schedule/names.h"
#include "sync/schedule/preemption/extender_wire.h"
#include "sync/schedule/scheduler.h"

namespace holdfast::sync::schedule {
namespace {

bool is_asked(const ExtenderConfig& extender, const std::string& verb, const PodView& pod) {
  return !verb.empty() && interested(extender.rules, *pod.pod);
}

Status use_filter_answer(const ExtenderConfig& extender, const Outcome& outcome,
                         FeasibleNodes& found) {
  if (!outcome.ok()) return fail(*outcome.error, outcome.text);
  TRY(const auto answer, read_filter_answer(extender.rules, outcome.text));
  return remove_rejected_nodes(extender.rules, answer, found);
}

Result<HostScores> read_scores(const Outcome& outcome) {
  if (!outcome.ok()) return fail(*outcome.error, outcome.text);
  return read_prioritize_answer(outcome.text);
}

Result<ExtenderAnswer> read_victims(const Outcome& outcome) {
  if (!outcome.ok()) return fail(*outcome.error, outcome.text);
  return read_preempt_answer(outcome.text);
}

Note ignored(const ExtenderConfig& extender, const Error& error) {
  return ExtenderIgnored{extender.rules.url + ": " + error.what};
}

}  // namespace

void Scheduler::begin_attempt(Queue::Popped popped) {
  const PodRef pod = popped.pod;
  if (pod->pod->metadata.deletion_timestamp) {
    record(skip_event(*pod));
    state_.queue().done(pod->uid());
    return;
  }
  if (state_.is_assumed(pod->uid())) {
    state_.queue().done(pod->uid());
    return;
  }
  attempt_ = AttemptInProgress{
      .popped = std::move(popped),
      .began = now_.mono,
      .found = finder_.feasible_nodes(state_.cluster(), state_.nominator(), *pod)};
  continue_attempt();
}

// Continues until an extender must be asked.
void Scheduler::continue_attempt() {
  using Phase = AttemptInProgress::Phase;
  if (attempt_->phase == Phase::filtering && !filter_by_extenders()) return;
  if (attempt_->phase == Phase::scoring && !score_by_extenders()) return;
  if (attempt_->phase == Phase::preempting && !preempt_by_extenders()) return;
  end_attempt();
}

// Returns false while an extender is being asked.
bool Scheduler::filter_by_extenders() {
  FeasibleNodes& found = attempt_->found;
  const PodView& pod = *attempt_->popped.pod;
  for (;;) {
    while (attempt_->extender < options_.extenders.size()) {
      if (!found.fit_status.ok() || found.feasible.empty()) break;
      const std::size_t index = attempt_->extender++;
      const ExtenderConfig& extender = options_.extenders[index];
      if (!is_asked(extender, extender.filter_verb, pod)) continue;
      ask(index, extender.filter_verb, filter_request(extender.rules, *pod.pod, found.feasible));
      return false;
    }
    const bool refused = found.promised && found.fit_status.ok() && found.feasible.empty();
    if (!refused) break;
    // The extenders rejected the nominated node: survey all nodes.
    found = finder_.feasible_nodes(state_.cluster(), state_.nominator(), pod, false);
    attempt_->extender = 0;
  }
  attempt_->extender = 0;
  attempt_->phase = AttemptInProgress::Phase::scoring;
  return true;
}

// Returns false while an extender is being asked.
bool Scheduler::score_by_extenders() {
  const FeasibleNodes& found = attempt_->found;
  const PodView& pod = *attempt_->popped.pod;
  const bool is_choice = found.fit_status.ok() && found.feasible.size() > 1;
  while (is_choice && attempt_->extender < options_.extenders.size()) {
    const std::size_t index = attempt_->extender++;
    const ExtenderConfig& extender = options_.extenders[index];
    if (!is_asked(extender, extender.prioritize_verb, pod)) continue;
    ask(index, extender.prioritize_verb, filter_request(extender.rules, *pod.pod, found.feasible));
    return false;
  }
  decide();
  return true;
}

void Scheduler::decide() {
  const PodRef pod = attempt_->popped.pod;
  Attempt made = finder_.decide(std::move(attempt_->found), *pod, attempt_->extra, random_);
  notes_.emplace_back(SearchEnded{attempt_->began});
  if (made.node == nullptr) {
    begin_preemption(std::move(made));
    return;
  }
  Binding binding{attempt_->popped, made.node->name(), attempt_->began};
  VolumePlan plan;
  if (options_.plugins.volumes) {
    plan = plan_volumes(state_.cluster().storage(), *pod, *made.node->node);
  }
  (void)state_.assume(now_.mono, pod, binding.node);
  if (plan.empty()) {
    begin_binding(std::move(binding));
  } else {
    begin_volumes(std::move(binding), std::move(plan));
  }
}

void Scheduler::begin_preemption(Attempt attempt) {
  const PodRef pod = attempt_->popped.pod;
  attempt_->failed = FailedAttempt{pod, std::move(attempt.fit_status), std::move(attempt.diagnosis),
                                   std::string()};
  attempt_->phase = AttemptInProgress::Phase::preempting;
  if (!attempt_->failed->diagnosis) return;
  const PodRef live = state_.live(pod->uid());
  attempt_->preemptor = live != nullptr ? live : pod;
  notes_.emplace_back(PreemptionTried{});
  attempt_->preemption.emplace(attempt_->preemptor, preemption_);
  const PreemptionView view{state_.cluster(), state_.nominator(), state_.budgets(),
                            finder_.plugins()};
  attempt_->preemption->start(view, attempt_->failed->diagnosis->fit_statuses, now_.wall, random_);
}

// Returns false while an extender is being asked.
bool Scheduler::preempt_by_extenders() {
  if (attempt_->preemption) {
    if (const ExtenderSettings* asked = attempt_->preemption->ask()) {
      const auto at = std::find_if(options_.extenders.begin(), options_.extenders.end(),
                                   [asked](const ExtenderConfig& each) {
                                     return each.rules.url == asked->url && each.rules.preempts;
                                   });
      std::string body =
          preempt_request(*asked, *attempt_->preemptor->pod, attempt_->preemption->candidates());
      ask(static_cast<std::size_t>(at - options_.extenders.begin()), at->preempt_verb,
          std::move(body));
      return false;
    }
    end_preemption();
  }
  fail_attempt(attempt_->popped, *std::move(attempt_->failed), attempt_->began);
  return true;
}

void Scheduler::end_preemption() {
  for (const std::string& line : attempt_->preemption->ignored()) {
    notes_.emplace_back(ExtenderIgnored{line});
  }
  const PreemptionOutcome outcome = *attempt_->preemption->outcome();
  attempt_->failed->diagnosis->postfilter = outcome.fit_status.message();
  attempt_->failed->nomination = outcome.nomination;
  if (!outcome.chosen) return;
  record_budget_problems(*attempt_->preemptor);
  prepare_candidate(attempt_->preemptor, *outcome.chosen);
}

void Scheduler::fail_attempt(const Queue::Popped& popped, FailedAttempt failed, MonoTime began) {
  const std::string& uid = popped.pod->uid();
  const PodRef live = state_.live(uid);
  auto plan = plan_failure(failed, live, state_.nominator(), now_.wall);
  if (plan.requeue) {
    // Errors: conflict, when it is in the queue already.
    (void)state_.queue().requeue(now_.mono, plan.fresh, std::move(plan.unschedulable),
                                 std::move(plan.pending));
  } else {
    state_.queue().done(uid);
  }
  notes_.emplace_back(PodNotPlaced{popped.pod->name(), plan.event.note});
  record(plan.event);
  if (plan.patch) patch(*std::move(plan.patch));
  const bool rejected = plan.reason == "Unschedulable";
  notes_.emplace_back(AttemptEnded{rejected ? "unschedulable" : "error", began});
}

void Scheduler::take_answer(const Outcome& outcome) {
  using Phase = AttemptInProgress::Phase;
  if (attempt_->phase == Phase::preempting) {
    attempt_->preemption->answer(state_.cluster(), read_victims(outcome), now_.wall);
    continue_attempt();
    return;
  }
  const ExtenderConfig& extender = options_.extenders.at(attempt_->extender - 1);
  if (attempt_->phase == Phase::filtering) {
    const Status used = use_filter_answer(extender, outcome, attempt_->found);
    if (!used && extender.rules.ignorable) {
      notes_.push_back(ignored(extender, used.error()));
    } else if (!used) {
      attempt_->found.fit_status = reject(Code::error, used.error().what);
    }
  } else if (const auto read = read_scores(outcome)) {
    add_scores(*read, extender.weight, attempt_->found.feasible, attempt_->extra);
  } else {
    // As upstream, a failure of an extender that only scores is ignored.
    notes_.push_back(ignored(extender, read.error()));
  }
  continue_attempt();
}

void Scheduler::ask(std::size_t extender, const std::string& verb, std::string body) {
  emit(AskExtender{extender, verb, std::move(body)}, OfAttempt{});
}

void Scheduler::end_attempt() {
  attempt_.reset();
  while (!deferred_.empty()) {
    auto next = std::move(deferred_.front());
    deferred_.pop_front();
    next();
  }
}

}  // namespace holdfast::sync::schedule
