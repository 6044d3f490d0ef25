// Performs the effects of the scheduler: requests to the API server and to extenders, and events.
//
// Threading: the loop's thread only.

#pragma once

#include <memory>
#include <vector>

#include "agent/cloud/controller_runner.h"
#include "agent/cloud/event_sender.h"
#include "agent/cloud/scheduler/extender_caller.h"
#include "agent/cloud/scheduler/scheduler_writer.h"
#include "sync/events/pod_events.h"
#include "sync/schedule/scheduler.h"

namespace holdfast::agent {

using SchedulerRunner = ControllerRunner<sync::schedule::Scheduler>;

using Extenders = std::vector<std::unique_ptr<ExtenderCaller>>;
// Errors: those of ExtenderCaller::make().
[[nodiscard]] Result<Extenders> make_extenders(const SchedulerPlan& plan, const Clock& clock);

class SchedulerPerformer final : public SchedulerRunner::Performer {
 public:
  // `client`, `clock` and `random` must outlive this.
  SchedulerPerformer(asio::any_io_executor executor, const std::string& scheduler,
                     Extenders extenders, ApiCaller& client, const Clock& clock, Random& random);

  asio::awaitable<sync::schedule::Outcome> perform(sync::schedule::Effect effect) override;

  // Retries events that could not be written. Runs until cancelled.
  asio::awaitable<void> retry_events() { return sender_.run(); }

 private:
  using Outcome = sync::schedule::Outcome;

  asio::awaitable<Outcome> perform_one(sync::schedule::RecordEvent event);
  asio::awaitable<Outcome> perform_one(sync::schedule::BindPod binding);
  asio::awaitable<Outcome> perform_one(sync::schedule::AskExtender question);
  asio::awaitable<Outcome> perform_one(sync::schedule::PatchPodStatus patch);
  asio::awaitable<Outcome> perform_one(sync::schedule::ClearNomination clear);
  asio::awaitable<Outcome> perform_one(sync::schedule::DeletePod deletion);
  asio::awaitable<Outcome> perform_one(sync::schedule::BindVolume binding);
  asio::awaitable<Outcome> perform_one(sync::schedule::SelectNode selection);
  asio::awaitable<Outcome> write(ApiRequest request);

  const Clock& clock_;
  Extenders extenders_;
  SchedulerWriter writer_;
  sync::events::PodEvents events_;
  EventSender sender_;
};

}  // namespace holdfast::agent
