// The workload controllers of the control plane: they create and delete the pods of Deployments,
// DaemonSets, StatefulSets and Jobs, as kube-controller-manager does.

#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "agent/lab/sim/server.h"

namespace holdfast::agent::lab::sim {

class Workloads {
 public:
  Workloads(Engine& engine, Server& server, const std::vector<Workload>& workloads);
  Workloads(const Workloads&) = delete;
  Workloads& operator=(const Workloads&) = delete;
  ~Workloads() = default;

  // Creates the pods of all workloads.
  void start();

  // The template of the workload changes: its pods are replaced. Like scale(), it does nothing if
  // there is no such workload.
  void roll_out(const std::string& name);
  void scale(const std::string& name, int replicas);
  // Null if there is no such workload.
  [[nodiscard]] const Workload* find(const std::string& name) const;
  // The workload that a pod belongs to. Null: none of them.
  [[nodiscard]] const Workload* owner_of(const sync::Pod& pod) const;
  [[nodiscard]] int wanted(const std::string& name) const;
  // The PodDisruptionBudgets, with how many pods may go now.
  [[nodiscard]] std::vector<sync::PodDisruptionBudget> budgets() const;
  // Whether the PodDisruptionBudget allows that this pod goes.
  [[nodiscard]] bool may_evict(const sync::Pod& pod) const;

 private:
  struct State {
    Workload workload;
    int revision = 1;
    int names = 0;               // pods created so far
    std::set<std::string> pods;  // keys
    int succeeded = 0;
    bool due = false;
    int nodes = 0;               // of a DaemonSet: those that it runs on
    std::set<std::string> bare;  // those of them without a pod
  };
  // The pods that count: neither ended nor being deleted.
  [[nodiscard]] std::vector<PodPtr> active(const State& state) const;
  void observe(const Change& change);
  void observe_node(State& state, const Change& change);
  void note_pod(State& state, const Change& change);
  [[nodiscard]] bool has_pod(const State& state, const std::string& node) const;
  void wake(State& state);
  void reconcile(State& state);
  void reconcile_deployment(State& state);
  void reconcile_daemon_set(State& state);
  void reconcile_stateful_set(State& state);
  void reconcile_job(State& state);
  void create_on_bare(State& state);
  void create(State& state, sync::Pod pod);

  Engine& engine_;
  Server& server_;
  std::map<std::string, State> states_;
};

}  // namespace holdfast::agent::lab::sim
