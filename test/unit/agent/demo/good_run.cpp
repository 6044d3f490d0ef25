#include "test/unit/agent/demo/good_run.h"

namespace holdfast::agent::demo {
namespace {

constexpr const char* unreachable_no_schedule = "node.kubernetes.io/unreachable:NoSchedule";
constexpr const char* unreachable_no_execute = "node.kubernetes.io/unreachable:NoExecute";

PodSeen pod(int when, const std::string& uid, const std::string& node) {
  return {.at = at(when),
          .uid = uid,
          .name = "web-" + uid,
          .owner = "ReplicaSet",
          .node = node,
          .ready = true};
}

void add_pods(History& history) {
  for (const char* name : {"a1", "a2", "b1", "c1"}) {
    history.pods.push_back(pod(5, name, std::string("edge-") + name[0]));
  }
  PodSeen evicted = pod(20, "b1", "edge-b");
  evicted.ready = false;
  evicted.deleting = true;
  history.pods.push_back(evicted);
  history.pods.push_back(pod(22, "c2", "edge-c"));
  PodSeen restarted = pod(33, "a1", "edge-a");
  restarted.restarts = 1;
  history.pods.push_back(restarted);
  evicted.gone = true;
  evicted.at = at(35);
  history.pods.push_back(evicted);
}

void add_processes(History& history) {
  history.processes = {
      {.uid = "a1", .node = "edge-a", .pid = 11, .began = at(5), .ended = at(14)},
      {.uid = "a2", .node = "edge-a", .pid = 12, .began = at(5)},
      {.uid = "b1", .node = "edge-b", .pid = 13, .began = at(5), .ended = at(34)},
      {.uid = "c1", .node = "edge-c", .pid = 14, .began = at(5)},
      {.uid = "a1", .node = "edge-a", .pid = 15, .began = at(15)},
      {.uid = "c2", .node = "edge-c", .pid = 16, .began = at(21)},
  };
}

void add_node(History& history, const std::string& node) {
  history.links.push_back({at(1), node, "connected", 0});
  history.nodes.push_back({at(1), node, "True", {}});
  const WallTime wall{};
  history.leases.push_back({at(1), node, wall + at(1), "1"});
  history.leases.push_back({at(2), node, wall + at(2), "2"});
  history.answers.push_back({.node = node, .path = "/nothing", .incomplete = true, .status = 503});
  history.answers.push_back(
      {.node = node, .path = "/api/v1/pods", .status = 200, .items = 2, .known = 2});
  history.versions.push_back({at(1), node + " /api/v1/pods", true, 10});
  history.versions.push_back({at(2), node + " /api/v1/pods", false, 12});
}

NodeSeen site_node(int when, const std::string& name, const std::string& ready,
                   std::vector<std::string> taints) {
  return {at(when), name, ready, std::move(taints)};
}

// The second act: two nodes of the first site are evicted before the whole site is dark.
void add_sites(History& history) {
  history.marks.insert(history.marks.end(), {{at(42), DemoEvent::sites_open},
                                             {at(44), DemoEvent::site_cut},
                                             {at(54), DemoEvent::all_cut},
                                             {at(60), DemoEvent::all_unknown},
                                             {at(66), DemoEvent::all_restored},
                                             {at(70), DemoEvent::closed}});
  const DemoSetup setup = good_setup();
  auto& nodes = history.nodes;
  for (const std::string& node : setup.nodes_of_both()) {
    nodes.push_back(site_node(43, node, "True", {}));
    PodSeen app = pod(43, "app-" + node, node);
    app.owner.clear();
    history.pods.push_back(app);
  }
  for (const int number : {1, 2}) {
    const std::string name = "south-" + std::to_string(number);
    const int tainted = 49 + 2 * number;
    nodes.push_back(
        site_node(tainted, name, "Unknown", {unreachable_no_schedule, unreachable_no_execute}));
    PodSeen evicted = pod(tainted + 2, "app-" + name, name);
    evicted.deleting = true;
    history.pods.push_back(evicted);
  }
  for (const std::string& node : setup.nodes_of_both()) {
    nodes.push_back(site_node(60, node, "Unknown", {unreachable_no_schedule}));
    nodes.push_back(site_node(68, node, "True", {}));
  }
}

PodSeen filler_pod(int when, const std::string& name, const std::string& node) {
  PodSeen made = pod(when, name, node);
  made.name = name;
  made.owner = name.starts_with("batch") ? "ReplicaSet" : "";
  return made;
}

// Before the second act: two pods are evicted to make room for an important one.
void add_room(History& history) {
  history.marks.insert(history.marks.end(), {{at(41), DemoEvent::node_full, {"edge-c"}},
                                             {at(41), DemoEvent::vip_posted, {"edge-c"}},
                                             {at(42), DemoEvent::preempted, {"edge-c"}}});
  auto& pods = history.pods;
  for (const char* name : {"batch-1", "batch-2", "guarded"}) {
    pods.push_back(filler_pod(41, name, "edge-c"));
  }
  const auto later = [](PodSeen pod, int tenths) {
    pod.at = at(41) + tenths * std::chrono::milliseconds(100);
    return pod;
  };
  PodSeen vip = filler_pod(41, "vip", "");
  vip.ready = false;
  vip.nominated = "edge-c";
  pods.push_back(later(vip, 1));
  for (const char* name : {"batch-1", "batch-2"}) {
    PodSeen victim = filler_pod(41, name, "edge-c");
    victim.deleting = true;
    pods.push_back(later(victim, 2));
    victim.gone = true;
    pods.push_back(later(victim, 3));
  }
  pods.push_back(later(filler_pod(41, "vip", "edge-c"), 5));
  pods.push_back(later(filler_pod(41, "batch-3", "edge-a"), 6));
  pods.push_back(later(filler_pod(41, "batch-4", "edge-b"), 7));
}

}  // namespace

History good_run() {
  History history;
  history.marks = {
      {at(8), DemoEvent::steady},        {at(10), DemoEvent::cut, {"edge-a", "edge-b"}},
      {at(12), DemoEvent::agent_killed}, {at(13), DemoEvent::agent_back},
      {at(14), DemoEvent::pod_killed},   {at(30), DemoEvent::restored},
      {at(40), DemoEvent::ended}};
  for (const std::string& node : DemoSetup().nodes()) add_node(history, node);
  history.nodes.push_back({at(17), "edge-a", "Unknown", {unreachable_no_schedule}});
  history.nodes.push_back(
      {at(17), "edge-b", "Unknown", {unreachable_no_schedule, unreachable_no_execute}});
  history.nodes.push_back({at(33), "edge-a", "True", {}});
  history.nodes.push_back({at(33), "edge-b", "True", {}});
  history.links.push_back({at(12), "edge-a", "offline", 3});
  history.links.push_back({at(32), "edge-a", "connected", 0});
  history.replicas = {{at(5), 4, 4}, {at(35), 4, 4}};
  history.journal = {{"edge-a", 1, "write-accepted", "pods/default/web-a1", "", 7},
                     {"edge-a", 2, "link", "nodes/edge-a", "rejoining", 0},
                     {"edge-a", 3, "write-applied", "pods/default/web-a1", "", 7}};
  add_pods(history);
  add_processes(history);
  add_room(history);
  add_sites(history);
  return history;
}

DemoSetup good_setup() {
  DemoSetup setup;
  setup.replicas = 4;
  setup.killed_pod = "a1";
  setup.site_nodes = 3;
  return setup;
}

}  // namespace holdfast::agent::demo
