// One scheduling attempt: filters, extenders, scores. If no node fits: preemption, then back into
// the queue.

#include <utility>

#include "agent/cloud/scheduler/scheduler.h"
#include "platform/log.h"
#include "sync/schedule/extender_filter.h"
#include "sync/schedule/names.h"
#include "sync/schedule/preemption/extender_wire.h"

namespace holdfast::agent {

namespace schedule = sync::schedule;
using schedule::PodRef;

namespace {

bool is_asked(const ExtenderPlan& extender, const std::string& verb, const schedule::PodView& pod) {
  return !verb.empty() && schedule::interested(extender.rules, *pod.pod);
}

Status use_filter_answer(const ExtenderPlan& extender, const Result<std::string>& body,
                         schedule::Survey& found) {
  if (!body) return fail(body.error());
  TRY(const auto answer, schedule::read_filter_answer(extender.rules, *body));
  return schedule::strike_out(extender.rules, answer, found);
}

void note_ignored(const ExtenderPlan& extender, const Error& error) {
  log_warn("extender ignored", {{"url", extender.rules.url}, {"error", error}});
}

Result<schedule::ExtenderAnswer> read_victims(const Result<std::string>& body) {
  if (!body) return fail(body.error());
  return schedule::read_preempt_answer(*body);
}

Result<schedule::HostScores> read_scores(const Result<std::string>& body) {
  if (!body) return fail(body.error());
  return schedule::read_prioritize_answer(*body);
}

}  // namespace

asio::awaitable<void> Scheduler::attempt(Popped popped) {
  const PodRef pod = popped.pod;
  if (pod->pod->metadata.deletion_timestamp) {
    tell(schedule::skip_event(*pod));
    books_.queue().done(pod->uid());
    co_return;
  }
  // Its binding is under way already.
  if (books_.is_assumed(pod->uid())) {
    books_.queue().done(pod->uid());
    co_return;
  }
  const MonoTime began = clock_.mono();
  schedule::Survey found = co_await survey(pod);
  schedule::Scores extra;
  if (found.verdict.ok() && found.feasible.size() > 1) {
    extra = co_await ask_scores(pod, found.feasible);
  }
  schedule::Attempt made = finder_.decide(std::move(found), *pod, extra, random_);
  metrics_.searched(clock_.mono() - began);
  if (made.node == nullptr) {
    co_await give_up(std::move(popped), std::move(made), began);
    co_return;
  }
  Binding binding{std::move(popped), made.node->name(), began};
  // Counts the pod's resources now, so that the next attempt sees them as used.
  (void)books_.assume(pod, binding.node);
  begin_binding(std::move(binding));
}

asio::awaitable<schedule::Survey> Scheduler::survey(PodRef pod) {
  schedule::Survey found = finder_.survey(books_.cluster(), books_.nominator(), *pod);
  co_await pass_extenders(pod, found);
  const bool refused = found.promised && found.verdict.ok() && found.feasible.empty();
  if (!refused) co_return found;
  // The extenders refused the node that was nominated for the pod: survey all nodes.
  found = finder_.survey(books_.cluster(), books_.nominator(), *pod, false);
  co_await pass_extenders(pod, found);
  co_return found;
}

asio::awaitable<void> Scheduler::pass_extenders(PodRef pod, schedule::Survey& found) {
  for (const auto& caller : extenders_) {
    if (!found.verdict.ok() || found.feasible.empty()) co_return;
    const ExtenderPlan& extender = caller->plan();
    if (!is_asked(extender, extender.filter_verb, *pod)) continue;
    std::string body = schedule::filter_request(extender.rules, *pod->pod, found.feasible);
    const auto answer = co_await caller->ask(extender.filter_verb, std::move(body));
    const Status used = use_filter_answer(extender, answer, found);
    if (used) continue;
    if (extender.rules.ignorable) {
      note_ignored(extender, used.error());
    } else {
      found.verdict = schedule::reject(schedule::Code::error, used.error().what);
    }
  }
}

asio::awaitable<schedule::Scores> Scheduler::ask_scores(PodRef pod, const schedule::Nodes& nodes) {
  schedule::Scores scores;
  for (const auto& caller : extenders_) {
    const ExtenderPlan& extender = caller->plan();
    if (!is_asked(extender, extender.prioritize_verb, *pod)) continue;
    std::string body = schedule::filter_request(extender.rules, *pod->pod, nodes);
    const auto answer = co_await caller->ask(extender.prioritize_verb, std::move(body));
    const auto read = read_scores(answer);
    // As upstream: an extender that fails to score does not fail the attempt.
    if (!read) {
      note_ignored(extender, read.error());
    } else {
      schedule::add_scores(*read, extender.weight, nodes, scores);
    }
  }
  co_return scores;
}

asio::awaitable<schedule::PreemptionOutcome> Scheduler::preempt(
    PodRef pod, const schedule::NodeVerdicts& verdicts) {
  metrics_.tried_preemption();
  schedule::Preemption preemption(pod, preemption_);
  const schedule::PreemptionView view{books_.cluster(), books_.nominator(), books_.budgets(),
                                      finder_.plugins()};
  preemption.start(view, verdicts, clock_.wall(), random_);
  while (const schedule::ExtenderSettings* asked = preemption.ask()) {
    const auto at = std::find_if(extenders_.begin(), extenders_.end(), [asked](const auto& each) {
      return each->plan().rules.url == asked->url && each->plan().rules.preempts;
    });
    std::string body = schedule::preempt_request(*asked, *pod->pod, preemption.candidates());
    const auto answer = co_await (*at)->ask((*at)->plan().preempt_verb, std::move(body));
    const auto victims = read_victims(answer);
    preemption.answer(books_.cluster(), victims, clock_.wall());
  }
  for (const std::string& line : preemption.ignored()) {
    log_warn("extender ignored", {{"what", line}});
  }
  schedule::PreemptionOutcome outcome = *preemption.outcome();
  co_return outcome;
}

asio::awaitable<void> Scheduler::give_up(Popped popped, schedule::Attempt attempt, MonoTime began) {
  schedule::FailedAttempt failed{popped.pod, std::move(attempt.verdict),
                                 std::move(attempt.diagnosis), std::string()};
  if (failed.diagnosis) {
    // Only a rejection by filters has a diagnosis, and only that can be solved by preemption.
    const PodRef live = books_.live(popped.pod->uid());
    const PodRef& pod = live != nullptr ? live : popped.pod;
    auto outcome = co_await preempt(pod, failed.diagnosis->verdicts);
    failed.diagnosis->postfilter = outcome.verdict.message();
    failed.nomination = std::move(outcome.nomination);
    if (outcome.chosen) {
      tell_of_budgets(*pod);
      make_room(pod, *outcome.chosen);
    }
  }
  fail_attempt(popped, std::move(failed), began);
}

void Scheduler::fail_attempt(const Popped& popped, schedule::FailedAttempt failed, MonoTime began) {
  const std::string& uid = popped.pod->uid();
  const PodRef live = books_.live(uid);
  auto plan = schedule::plan_failure(failed, live, books_.nominator(), clock_.wall());
  if (plan.requeue) {
    const Status back = books_.queue().requeue(
        clock_.mono(), plan.fresh, std::move(plan.unschedulable), std::move(plan.pending));
    if (!back) log_debug("pod not queued again", {{"error", back.error()}});
  } else {
    books_.queue().done(uid);
  }
  tell(plan.event);
  if (plan.patch) patch(*std::move(plan.patch));
  const bool rejected = plan.reason == "Unschedulable";
  metrics_.attempted(rejected ? "unschedulable" : "error", clock_.mono() - began);
  log_debug("pod not placed", {{"pod", popped.pod->name()}, {"why", plan.event.note}});
}

}  // namespace holdfast::agent
