// Writes down what happens while a scenario is played with real processes, for its result.
//
// All times become the scenario's: real time since begin(), multiplied by the speed. What was seen
// before begin() counts as at 0. Threading: the loop's thread only.

#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "agent/lab/cluster/lab_node.h"
#include "agent/lab/result/result.h"
#include "agent/lab/scenario/scenario.h"
#include "sync/model/types.h"

namespace holdfast::agent::lab::run {

// The states of something over time, with the last one open.
class StateLog {
 public:
  // An empty state only ends the last one.
  void set(Duration now, std::string_view state);
  // Empty if none is open; valid until the next set().
  [[nodiscard]] std::string_view state() const {
    if (!is_open_) return {};
    return spans_.back().state;
  }
  // All spans; the open one ends at `now`.
  [[nodiscard]] std::vector<Span> spans(Duration now) const;

 private:
  std::vector<Span> spans_;
  bool is_open_ = false;
};

class RunRecorder {
 public:
  // Shows one line about what happens, with the scenario's time.
  using Say = std::function<void(Duration at, const std::string& what)>;

  // `scenario` is as it was written, and outlives this, as `clock` does.
  RunRecorder(const Scenario& scenario, int speed, const Clock& clock, Say say);

  // The scenario begins now.
  void begin();
  [[nodiscard]] Duration now() const;
  [[nodiscard]] WallTime began() const { return began_wall_; }

  void fault(const ScenarioEvent& event);
  void scaled(const std::string& workload, int replicas);
  void node_changed(const cluster::LabNode& node);
  void node_seen(const sync::Node& node);
  void pods_listed(const std::vector<sync::Pod>& pods);
  void pod_seen(const sync::Pod& pod, bool gone);
  void event_seen(const sync::Event& event);
  // All containers that run on the node now.
  void containers_are(const std::string& node,
                      const std::vector<cluster::ContainerProcess>& running);

  // Whether every node was seen Ready and without a NoExecute or NoSchedule taint of Kubernetes.
  [[nodiscard]] bool is_fleet_ready() const;
  // The workloads, Jobs excluded, of which fewer pods than wanted run.
  [[nodiscard]] std::vector<std::string> incomplete() const;

  // The result, without what the audit log says.
  [[nodiscard]] RunResult finish(const std::map<std::string, std::uint64_t>& bytes_by_node) const;

 private:
  struct NodeLog {
    std::string site;
    StateLog link;
    StateLog power;
    StateLog ready;
    StateLog taints;
    StateLog withheld;
    bool is_usable = false;
  };
  struct PodLog {
    PodResult result;
    StateLog running;
    std::map<std::string, int> first_attempt;  // by container
    std::map<std::string, int> latest_attempt;
    bool is_stopping = false;
    bool is_marked = false;  // the lifecycle controller announced that it deletes the pod
  };
  struct WorkloadLog {
    const Workload* workload = nullptr;
    int wanted = 0;
    bool was_complete = false;
    StateLog shortfall;
  };

  void say(const std::string& what) const { say_(now(), what); }
  [[nodiscard]] int running_of(const std::string& title) const;
  [[nodiscard]] int wanted_of(const WorkloadLog& log) const;
  void update_shortfalls();
  void note_eviction(PodLog& pod);
  void container_runs(PodLog& pod, const cluster::ContainerProcess& container);

  const Scenario& scenario_;
  int speed_;
  const Clock& clock_;
  Say say_;
  bool has_begun_ = false;
  MonoTime began_{};
  WallTime began_wall_{};
  std::vector<std::string> order_;  // the nodes' names
  std::map<std::string, NodeLog> nodes_;
  std::map<std::string, PodLog> pods_;            // by uid
  std::map<std::string, WorkloadLog> workloads_;  // by title
  std::set<std::string> marked_;                  // uids of pods that are not known yet
  std::vector<FaultMark> faults_;
};

}  // namespace holdfast::agent::lab::run
