// The scheduler in a simulation: the production scheduler, next to the modelled API server.

#pragma once

#include <map>
#include <string>

#include "agent/lab/sim/server.h"
#include "agent/lab/sim/workloads.h"
#include "sync/schedule/scheduler.h"

namespace holdfast::agent::lab::sim {

class SchedulerHost {
 public:
  // Everything must outlive this.
  SchedulerHost(Engine& engine, Server& server, const Workloads& workloads);
  SchedulerHost(const SchedulerHost&) = delete;
  SchedulerHost& operator=(const SchedulerHost&) = delete;
  ~SchedulerHost() = default;

 private:
  using Scheduler = sync::schedule::Scheduler;
  using Effect = sync::schedule::Effect;
  using Outcome = sync::schedule::Outcome;

  void observe(const Change& change);
  void feed(const Scheduler::Input& input);
  // Passes on the budgets that allow more or fewer disruptions than before.
  void update_budgets();
  void perform(const Effect& effect);
  [[nodiscard]] int perform_one(const sync::schedule::BindPod& bind);
  [[nodiscard]] int perform_one(const sync::schedule::PatchPodStatus& patch);
  [[nodiscard]] int perform_one(const sync::schedule::ClearNomination& clear);
  [[nodiscard]] int perform_one(const sync::schedule::DeletePod& deletion);
  [[nodiscard]] int perform_one(const sync::schedule::RecordEvent&) { return created; }
  [[nodiscard]] int perform_one(const sync::schedule::AskExtender&) { return not_found; }
  [[nodiscard]] int perform_one(const sync::schedule::BindVolume&) { return not_found; }
  [[nodiscard]] int perform_one(const sync::schedule::SelectNode&) { return not_found; }

  Engine& engine_;
  Server& server_;
  const Workloads& workloads_;
  std::map<std::string, sync::PodDisruptionBudget> budgets_;  // by name, as the scheduler has them
  Scheduler scheduler_;
  Life life_;
  Timer timer_;
};

}  // namespace holdfast::agent::lab::sim
