// Runs the scheduling rules of sync/schedule on the event loop: passes them watch changes, makes
// one scheduling attempt after the other, and performs the decisions.
// An attempt sees the cluster as it was when it began: changes that arrive while extenders are
// asked are applied after it. Bindings, patches and preemptions run concurrently with the attempts.
// Threading: the loop's thread. Large preemption dry runs also use `workers_`; the loop waits for
// them.

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
// Errors: those of ExtenderCaller::make().
[[nodiscard]] Result<Extenders> make_extenders(const SchedulerPlan& plan, const Clock& clock);

class Scheduler {
 public:
  // `client` and `clock` are borrowed and outlive it.
  Scheduler(asio::any_io_executor executor, const SchedulerPlan& plan, Extenders extenders,
            ApiCaller& client, const Clock& clock, Random random);

  // Changes, in the order in which a watch delivers them.
  void set(const sync::Node& node);
  void set(const sync::Pod& pod);
  void set(const sync::PodDisruptionBudget& budget);
  void set(const sync::Namespace& space);
  void remove_node(const std::string& name);
  void remove_pod(const std::string& namespace_name, const std::string& name);
  void remove_budget(const std::string& namespace_name, const std::string& name);
  void remove_namespace(const std::string& name);

  // Begins to make attempts. Called when all lists were received once and this replica leads.
  // pause() ends that; an attempt under way is completed.
  void start();
  void pause() { acting_ = false; }
  [[nodiscard]] bool started() const { return acting_; }

  // run() makes attempts, retry_events() retries events that could not be written; both run until
  // cancelled.
  asio::awaitable<void> run();
  asio::awaitable<void> retry_events() { return sender_.run(); }
  // Drops queued writes and waits for those under way, at most until `deadline`.
  asio::awaitable<void> stop(MonoTime deadline);

  [[nodiscard]] const sync::schedule::Books& books() const { return books_; }
  [[nodiscard]] std::string metrics() { return metrics_.text(books_); }

 private:
  using Popped = sync::schedule::Queue::Popped;
  // A decided placement: `popped` goes to `node`. The attempt began at `began`.
  struct Binding {
    Popped popped;
    std::string node;
    MonoTime began;
  };
  // The status patches of one pod, sent one after the other. `next` merges those that wait; `then`
  // is the binding to send after the last one.
  struct Patching {
    std::optional<sync::schedule::PatchPodStatus> next;
    std::optional<Binding> then;
  };
  // A preemption under way: deletes the victims and waits for their end.
  struct Making {
    sync::schedule::Preparation machine;
    std::string preemptor;  // uid of the pod that gets the room
    MonoTime began;
  };
  using MakingAt = std::list<Making>::iterator;

  // Applies a change now, or after the attempt under way.
  void change(std::function<void()> what);
  void end_attempt();

  // attempts.cpp: one attempt
  asio::awaitable<void> attempt(Popped popped);
  asio::awaitable<sync::schedule::Survey> survey(sync::schedule::PodRef pod);
  asio::awaitable<void> pass_extenders(sync::schedule::PodRef pod, sync::schedule::Survey& found);
  asio::awaitable<sync::schedule::Scores> ask_scores(sync::schedule::PodRef pod,
                                                     const sync::schedule::Nodes& nodes);
  asio::awaitable<sync::schedule::PreemptionOutcome> preempt(
      sync::schedule::PodRef pod, const sync::schedule::NodeVerdicts& verdicts);
  asio::awaitable<void> give_up(Popped popped, sync::schedule::Attempt attempt, MonoTime began);
  void fail_attempt(const Popped& popped, sync::schedule::FailedAttempt failed, MonoTime began);

  // outcomes.cpp: bindings, patches, preemption, events
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
  std::deque<std::function<void()>> inbox_;  // changes that arrived during an attempt
  bool attempting_ = false;
  bool acting_ = false;
  loop::Event changed_;
  asio::any_io_executor executor_;
  WriteLine writes_;
  WriteLine telling_;
};

}  // namespace holdfast::agent
