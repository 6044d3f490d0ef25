// differences(): what the API says at the end against what is on the nodes.

#include "agent/lab/run/convergence.h"

namespace holdfast::agent::lab::run {
namespace {

using namespace std::chrono_literals;

const WallTime at_end{1'000'000s};

sync::Pod converged_pod() {
  sync::Pod pod;
  pod.metadata.namespace_name = "default";
  pod.metadata.name = "web";
  pod.metadata.uid = "u1";
  pod.spec.node_name = "a-1";
  pod.spec.containers.emplace_back();
  pod.spec.containers.back().name = "main";
  pod.status.phase = "Running";
  sync::PodCondition ready;
  ready.type = "Ready";
  ready.status = "True";
  pod.status.conditions.push_back(std::move(ready));
  sync::ContainerStatus status;
  status.name = "main";
  status.ready = true;
  status.container_id = "containerd://5d0f7c2a99";
  pod.status.container_statuses.push_back(std::move(status));
  return pod;
}

// A node with a kubelet and a pod, where everything is as it must be.
struct Fleet {
  ApiState api;
  std::vector<NodeState> nodes;

  Fleet() {
    sync::Node node;
    node.metadata.name = "a-1";
    sync::NodeCondition ready;
    ready.type = "Ready";
    ready.status = "True";
    node.status.conditions.push_back(std::move(ready));
    api.nodes.push_back(std::move(node));
    sync::Lease lease;
    lease.metadata.name = "a-1";
    lease.spec.lease_duration_seconds = 40;
    lease.spec.renew_time = at_end - 40s;
    api.leases.push_back(std::move(lease));
    api.pods.push_back(converged_pod());
    NodeState state;
    state.name = "a-1";
    state.running.push_back(
        {.pod_uid = "u1", .container = "main", .attempt = 0, .shim = {}, .process = {}});
    state.kubelet = {converged_pod()};
    nodes.push_back(std::move(state));
  }
};

void taint_node(sync::Node& node, const std::string& key) {
  sync::Taint taint;
  taint.key = key;
  taint.effect = "NoSchedule";
  node.spec.taints.push_back(std::move(taint));
}

struct ConvergenceCase {
  const char* what;
  std::function<void(Fleet&)> change;
  std::vector<std::string> found;
};

const std::vector<ConvergenceCase>& convergence_cases() {
  static const std::vector<ConvergenceCase> cases = {
      {"nothing differs", [](Fleet&) {}, {}},
      {"the node is gone",
       [](Fleet& f) { f.api.nodes.clear(); },
       {"a-1: the API has no such node"}},
      {"not Ready",
       [](Fleet& f) { f.api.nodes[0].status.conditions[0].status = "Unknown"; },
       {"a-1: Ready is Unknown"}},
      {"a controller's taint",
       [](Fleet& f) { taint_node(f.api.nodes[0], "node.kubernetes.io/unreachable"); },
       {"a-1: has the taint node.kubernetes.io/unreachable:NoSchedule"}},
      {"a person's taints",
       [](Fleet& f) {
         taint_node(f.api.nodes[0], "node.kubernetes.io/unschedulable");
         taint_node(f.api.nodes[0], "act");
       },
       {}},
      {"an old lease",
       [](Fleet& f) { f.api.leases[0].spec.renew_time = at_end - 41s; },
       {"a-1: its lease was renewed 41s ago and lasts 40s"}},
      {"no lease", [](Fleet& f) { f.api.leases.clear(); }, {"a-1: has no lease"}},
      {"a pod without a process",
       [](Fleet& f) { f.nodes[0].running.clear(); },
       {"a-1: pod default/web: 0 of 1 containers run"}},
      {"a pod that was marked NotReady",
       [](Fleet& f) { f.api.pods[0].status.conditions[0].status = "False"; },
       {"a-1: pod default/web is not Ready in the API"}},
      {"a pod that is being deleted",
       [](Fleet& f) { f.api.pods[0].metadata.deletion_timestamp = at_end; },
       {"a-1: pod default/web is still being deleted"}},
      {"a process without a pod",
       [](Fleet& f) { f.nodes[0].running[0].pod_uid = "u9"; },
       {"a-1: pod default/web: 0 of 1 containers run",
        "a-1: container main runs, but the API has no pod u9"}},
      {"a restart that the API does not know",
       [](Fleet& f) {
         auto& status = (*f.nodes[0].kubelet)[0].status.container_statuses[0];
         status.restart_count = 1;
         status.container_id = "containerd://77777777ff";
       },
       {"a-1: pod default/web: \"Running; main 77777777, 1 restarts, ready\" on the node, "
        "\"Running; main 5d0f7c2a, 0 restarts, ready\" in the API"}},
      {"a pod that the kubelet does not have",
       [](Fleet& f) { f.nodes[0].kubelet->clear(); },
       {"a-1: pod default/web: the kubelet does not have it"}},
      {"a pod that has ended",
       [](Fleet& f) {
         f.api.pods[0].status.phase = "Succeeded";
         f.nodes[0].running.clear();
       },
       {}},
      {"a node without a link",
       [](Fleet& f) {
         f.api.nodes.clear();
         f.nodes[0].has_link = false;
       },
       {}}};
  return cases;
}

TEST(LabConvergence, NamesEveryDifference) {
  for (const ConvergenceCase& each : convergence_cases()) {
    Fleet fleet;
    each.change(fleet);
    EXPECT_EQ(differences(fleet.api, fleet.nodes, at_end), each.found) << each.what;
  }
}

}  // namespace
}  // namespace holdfast::agent::lab::run
