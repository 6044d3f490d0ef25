// The shell round the rules of scheduling: hands them what changes, makes one attempt after the
// other, and has what they decide performed.
//
// An attempt sees the cluster as it was when it began: what comes while extenders are asked goes in
// after it. Bindings, patches and preemptions run beside the attempts. Threading: the loop's
// thread; only large dry runs use others, and end before the attempt goes on.

#pragma once

#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "agent/cloud/event_sender.h"
#include "agent/cloud/scheduler/extender_caller.h"
#include "agent/cloud/scheduler/pod_events.h"
#include "agent/cloud/scheduler/scheduler_metrics.h"
#include "agent/cloud/scheduler/scheduler_plan.h"
#include "agent/cloud/scheduler/scheduler_writer.h"
#include "agent/cloud/scheduler/write_line.h"
#include "platform/loop/event.h"
#include "platform/loop/workers.h"
#include "platform/random.h"
#include "sync/model/config.h"
#include "sync/schedule/books.h"
#include "sync/schedule/failure.h"
#include "sync/schedule/preemption/preemption.h"

namespace holdfast::agent {

using Extenders = std::vector<std::unique_ptr<ExtenderCaller>>;
// Errors: of ExtenderCaller::make().
[[nodiscard]] Result<Extenders> make_extenders(const SchedulerPlan& plan, const Clock& clock);

class Scheduler {
 public:
  // `client` and `clock` outlive it.
  Scheduler(asio::any_io_executor executor, const SchedulerPlan& plan, Extenders extenders,
            ApiCaller& client, const Clock& clock, Random random);

  // Changes, as a watch delivers them.
  void set(const sync::Node& node);
  void set(const sync::Pod& pod);
  void set(const sync::PodDisruptionBudget& budget);
  void set(const sync::Namespace& space);
  void remove_node(const std::string& name);
  void remove_pod(const std::string& namespace_name, const std::string& name);
  void remove_budget(const std::string& namespace_name, const std::string& name);
  void remove_namespace(const std::string& name);

  // Until start() nothing is decided: somebody else does, or not everything was received yet.
  void start();
  void pause() { acting_ = false; }
  [[nodiscard]] bool started() const { return acting_; }

  // Makes attempts, and sends events again that did not arrive; both until cancelled.
  asio::awaitable<void> run();
  asio::awaitable<void> retry_events() { return sender_.run(); }
  // Lets writes under way end, at most until `deadline`.
  asio::awaitable<void> stop(MonoTime deadline);

  [[nodiscard]] const sync::schedule::Books& books() const { return books_; }
  [[nodiscard]] std::string metrics() { return metrics_.text(books_); }

 private:
  using Popped = sync::schedule::Queue::Popped;
  struct Binding {
    Popped popped;
    std::string node;
    MonoTime began;
  };
  // Status patches of one waiting pod, one after the other; of those that wait the newest counts.
  struct Patching {
    std::optional<sync::schedule::PatchPodStatus> next;
    std::optional<Binding> then;
  };
  struct Making {  // room
    sync::schedule::Preparation machine;
    std::string preemptor;  // its uid
    MonoTime began;
  };
  using MakingAt = std::list<Making>::iterator;

  void change(std::function<void()> what);
  void end_attempt();

  // attempts.cpp
  asio::awaitable<void> attempt(Popped popped);
  asio::awaitable<sync::schedule::Survey> survey(sync::schedule::PodRef pod);
  asio::awaitable<void> pass_extenders(sync::schedule::PodRef pod, sync::schedule::Survey& found);
  asio::awaitable<sync::schedule::Scores> ask_scores(sync::schedule::PodRef pod,
                                                     const sync::schedule::Nodes& nodes);
  asio::awaitable<sync::schedule::PreemptionOutcome> preempt(
      sync::schedule::PodRef pod, const sync::schedule::NodeVerdicts& verdicts);
  asio::awaitable<void> give_up(Popped popped, sync::schedule::Attempt attempt, MonoTime began);
  void fail_attempt(const Popped& popped, sync::schedule::FailedAttempt failed, MonoTime began);

  // outcomes.cpp
  void begin_binding(Binding binding);
  asio::awaitable<void> bind(Binding binding);
  void end_binding(const Binding& binding, const Status& bound);
  void patch(sync::schedule::PatchPodStatus wanted);
  asio::awaitable<void> write_patches(sync::schedule::PatchPodStatus first);
  void make_room(const sync::schedule::PodRef& pod, const sync::schedule::Candidate& chosen);
  void take_steps(MakingAt making, const sync::schedule::Preparation::Steps& steps);
  asio::awaitable<void> take_step(MakingAt making, sync::schedule::Preparation::Step step);
  void tell(const sync::schedule::RecordEvent& event);
  asio::awaitable<void> send_event(EventWrite write);
  void tell_of_budgets(const sync::schedule::PodView& pod);

  const Clock& clock_;
  Random random_;
  Extenders extenders_;
  loop::Workers workers_;
  sync::schedule::PreemptionOptions preemption_;
  sync::schedule::Books books_;
  sync::schedule::Finder finder_;
  SchedulerMetrics metrics_;
  SchedulerWriter writer_;
  PodEvents events_;
  EventSender sender_;
  std::unordered_map<std::string, Patching> patching_;  // by uid
  std::list<Making> making_;
  std::deque<std::function<void()>> inbox_;  // what came during an attempt
  bool attempting_ = false;
  bool acting_ = false;
  loop::Event changed_;
  asio::any_io_executor executor_;
  WriteLine writes_;
  WriteLine telling_;
};

}  // namespace holdfast::agent
