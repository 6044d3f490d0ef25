#include "agent/cloud/scheduler/scheduler_performer.h"

#include <boost/asio/ip/host_name.hpp>
#include <utility>

namespace holdfast::agent {

namespace schedule = sync::schedule;
using schedule::Outcome;

namespace {

std::string instance_of(const std::string& scheduler) {
  boost::system::error_code ec;
  const std::string host = asio::ip::host_name(ec);
  return scheduler + "-" + (ec ? std::string("unknown") : host);
}

Outcome outcome_of(const Status& done) {
  Outcome outcome;
  if (done) return outcome;
  outcome.error = done.error().code;
  outcome.text = done.error().what;
  return outcome;
}

}  // namespace

Result<Extenders> make_extenders(const SchedulerPlan& plan, const Clock& clock) {
  Extenders made;
  for (const ExtenderPlan& extender : plan.extenders) {
    auto caller = ExtenderCaller::make(extender, clock);
    if (!caller) return fail("extender " + extender.rules.url, caller.error());
    made.push_back(*std::move(caller));
  }
  return made;
}

SchedulerPerformer::SchedulerPerformer(asio::any_io_executor executor, const std::string& scheduler,
                                       Extenders extenders, ApiCaller& client, const Clock& clock,
                                       Random& random)
    : clock_(clock),
      extenders_(std::move(extenders)),
      writer_(client, clock, random),
      events_(scheduler, instance_of(scheduler)),
      sender_(std::move(executor), client, clock) {}

asio::awaitable<Outcome> SchedulerPerformer::perform(schedule::Effect effect) {
  return std::visit([this](auto& one) { return perform_one(std::move(one)); }, effect.what);
}

asio::awaitable<Outcome> SchedulerPerformer::perform_one(schedule::RecordEvent event) {
  auto write = events_.record(clock_.mono(), clock_.wall(), event);
  Outcome outcome;
  if (!write) co_return outcome;
  const Status sent = co_await sender_.record(*std::move(write));
  outcome = outcome_of(sent);
  co_return outcome;
}

asio::awaitable<Outcome> SchedulerPerformer::perform_one(schedule::BindPod binding) {
  const Status bound = co_await writer_.bind(std::move(binding.pod), std::move(binding.node));
  co_return outcome_of(bound);
}

asio::awaitable<Outcome> SchedulerPerformer::perform_one(schedule::AskExtender question) {
  ExtenderCaller& extender = *extenders_.at(question.extender);
  auto answer = co_await extender.ask(std::move(question.verb), std::move(question.body));
  Outcome outcome;
  if (answer) {
    outcome.text = *std::move(answer);
  } else {
    outcome.error = answer.error().code;
    outcome.text = answer.error().what;
  }
  co_return outcome;
}

asio::awaitable<Outcome> SchedulerPerformer::perform_one(schedule::PatchPodStatus patch) {
  return write(patch_status(patch));
}

asio::awaitable<Outcome> SchedulerPerformer::perform_one(schedule::ClearNomination clear) {
  return write(clear_nomination(clear));
}

asio::awaitable<Outcome> SchedulerPerformer::perform_one(schedule::DeletePod deletion) {
  return write(delete_victim(deletion));
}

asio::awaitable<Outcome> SchedulerPerformer::perform_one(schedule::BindVolume binding) {
  return write(bind_volume(binding));
}

asio::awaitable<Outcome> SchedulerPerformer::perform_one(schedule::SelectNode selection) {
  return write(select_node(selection));
}

asio::awaitable<Outcome> SchedulerPerformer::write(ApiRequest request) {
  const Status written = co_await writer_.write(std::move(request));
  co_return outcome_of(written);
}

}  // namespace holdfast::agent
