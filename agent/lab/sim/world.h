// Everything that a simulation consists of.

#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "agent/lab/sim/cloud.h"
#include "agent/lab/sim/invariants.h"
#include "agent/lab/sim/progress.h"
#include "agent/lab/sim/recorder.h"
#include "agent/lab/sim/scheduler.h"
#include "agent/lab/sim/sim.h"
#include "agent/lab/sim/sim_node.h"

namespace holdfast::agent::lab::sim {

class World {
 public:
  World(const Scenario& scenario, const SimOptions& options);
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  ~World() = default;

  [[nodiscard]] SimOutcome run();

 private:
  using Nodes = std::vector<SimNode*>;

  void schedule_events();
  // The nodes that a target names.
  [[nodiscard]] Nodes nodes_of(const Target& target);
  void begin(const ScenarioEvent& event);
  void end(const ScenarioEvent& event);

  // actions.cpp: one function for each action, when it begins, and one for those that end.
  void begin_one(const ScenarioEvent& event, const Cut& action);
  void begin_one(const ScenarioEvent& event, const Heal& action);
  void begin_one(const ScenarioEvent& event, const Flap& action);
  void begin_one(const ScenarioEvent& event, const Degrade& action);
  void begin_one(const ScenarioEvent& event, const PowerLoss& action);
  void begin_one(const ScenarioEvent& event, const Kill& action);
  void begin_one(const ScenarioEvent& event, const Pause& action);
  void begin_one(const ScenarioEvent& event, const ClockStep& action);
  void begin_one(const ScenarioEvent& event, const ClockDrift& action);
  void begin_one(const ScenarioEvent& event, const DiskFull& action);
  void begin_one(const ScenarioEvent& event, const Drain& action);
  void begin_one(const ScenarioEvent& event, const Uncordon& action);
  void begin_one(const ScenarioEvent& event, const Rollout& action);
  void begin_one(const ScenarioEvent& event, const Scale& action);
  void begin_one(const ScenarioEvent& event, const DeletePods& action);
  void begin_one(const ScenarioEvent& event, const ApiServerFault& action);
  void end_one(const Cut& action);
  void end_one(const Degrade& action);
  void end_one(const PowerLoss& action);
  void end_one(const Kill& action);
  void end_one(const Pause& action);
  void end_one(const ClockStep& action);
  void end_one(const ClockDrift& action);
  void end_one(const DiskFull& action);
  void end_one(const ApiServerFault& action);
  template <class Other>
  void end_one(const Other&) {}
  void set_cut(SimNode& node, const Cut& action, bool cut);
  void flap(const Flap& action, MonoTime until, bool down);
  void set_cordon(const std::string& node, bool cordoned);
  void evict_all(const std::string& node);
  void play_traces();

  // world_quiet.cpp: nodes whose heartbeats are skipped.
  void schedule_quiet_times();
  void look_for_quiet();
  void skip_renewals();
  void hold_awake(const Nodes& nodes);
  [[nodiscard]] Nodes disturbed_by(const ScenarioEvent& event);

  void watch_withheld();
  void watch_progress();
  void note_control_plane();
  void watch_settling();
  [[nodiscard]] bool is_calm() const;
  void check_convergence();

  const Scenario& scenario_;
  const SimOptions& options_;
  Engine engine_;
  Server server_;
  Workloads workloads_;
  Traffic traffic_;
  Recorder recorder_;
  Invariants invariants_;
  Cloud cloud_;
  SchedulerHost scheduler_;
  Kubelet::ProfileOf profile_of_;
  std::vector<std::unique_ptr<SimNode>> nodes_;
  std::map<std::string, SimNode*> by_name_;
  std::map<std::string, Nodes> by_site_;
  std::set<std::string> unready_;  // nodes that are not Ready, or were at the last look
  std::size_t awake_ = 0;          // nodes that are not quiet
  std::uint64_t skipped_ = 0;
  Progress progress_;
  std::set<std::string> settled_;  // nodes that had settled within the last minute
  MonoTime last_fault_ = Engine::start;
  int faults_ = 0;  // under way
};

}  // namespace holdfast::agent::lab::sim
