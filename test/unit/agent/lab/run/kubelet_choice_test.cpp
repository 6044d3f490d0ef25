// Which nodes have a real kubelet, and what a run in a cluster of others refuses.

#include "agent/lab/run/kubelet_choice.h"

#include "agent/lab/cluster/kubelet_files.h"
#include "agent/lab/run/guest_run.h"

namespace holdfast::agent::lab::run {
namespace {

Scenario scenario_for_kubelets() {
  Scenario scenario;
  scenario.sites = {{.name = "a", .nodes = 2, .zone = "a"},
                    {.name = "b", .nodes = 1, .zone = "b", .agent = NodeAgent::none}};
  return scenario;
}

TEST(LabKubeletChoice, NamesNodesOfSites) {
  struct Case {
    std::string on;
    KubeletSurroundings around;
    std::set<std::string> nodes;
    std::string error;
  };
  const KubeletSurroundings good{.namespaces = true, .server_has_tls = true, .speed = 1};
  KubeletSurroundings fast = good;
  fast.speed = 2;
  KubeletSurroundings shared = good;
  shared.namespaces = false;
  KubeletSurroundings plain = good;
  plain.server_has_tls = false;
  const std::vector<Case> cases = {
      {"", good, {"a-1", "a-2", "b-1"}, ""},
      {"all", good, {"a-1", "a-2", "b-1"}, ""},
      {"a-2,b", good, {"a-2", "b-1"}, ""},
      {"a", plain, {"a-1", "a-2"}, ""},
      {"a,", good, {}, "--kubelet-on: the scenario has no site or node \"\""},
      {"a-3", good, {}, "--kubelet-on: the scenario has no site or node \"a-3\""},
      {"a", fast, {}, "--kubelet: a kubelet cannot be played faster; omit --speed"},
      {"a",
       shared,
       {},
       "--kubelet: a kubelet needs a network namespace of its own; run as root, and without "
       "--namespaces=false"},
      {"b",
       plain,
       {},
       "--kubelet: the kubelets of site b have no holdfast-edge (agent: none), and talk to an API "
       "server only over TLS: use --api-server, too"}};
  for (const Case& each : cases) {
    const auto nodes = kubelet_nodes(scenario_for_kubelets(), each.on, each.around);
    EXPECT_EQ(nodes.value_or(std::set<std::string>()), each.nodes) << each.on;
    EXPECT_EQ(nodes ? "" : nodes.error().what, each.error) << each.on;
  }
}

// A kubelet takes the control groups of pods that it does not know for leftovers of its own. Only
// those of version 1 can be hidden from it.
TEST(LabKubeletChoice, NeedsControlGroupsOfVersion1) {
  const std::string usual = "proc /proc proc rw,nosuid 0 0\ntmpfs /sys/fs/cgroup tmpfs ro 0 0\n";
  const std::string version_1 = "cgroup /sys/fs/cgroup/pids cgroup rw,nosuid,pids 0 0\n";
  const std::string version_2 = "cgroup2 /sys/fs/cgroup/unified cgroup2 rw,nosuid 0 0\n";
  const struct {
    std::string mounts;
    bool suits;
  } rows[] = {{"", false},
              {usual, false},
              {usual + version_2, false},
              {"cgroup\n \ncgroup cgroup\n", false},
              {usual + version_1, true},
              {usual + version_2 + version_1, true}};
  for (const auto& row : rows) {
    const auto found = cluster::KubeletPrograms::find("/nowhere", "/nowhere/images", row.mounts);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().what,
              row.suits ? "--kubelet: /nowhere/bin has no kubelet"
                        : "--kubelet: this machine has no cgroup v1, so a kubelet would see, and "
                          "remove, the control groups of this machine's own pods")
        << row.mounts;
    EXPECT_EQ(found.error().code, row.suits ? Errc::not_found : Errc::unavailable);
  }
}

TEST(LabGuestScenario, RefusesWhatIsNotTheRuns) {
  const guest::Guest guest{.run = "lab-x7k2p", .owner = {}};
  const auto found = [&guest](const Scenario& scenario) {
    const Status fits = check_guest_scenario(scenario, "s.yaml", guest);
    return fits ? std::string() : fits.error().what;
  };
  const Scenario good = scenario_for_kubelets();
  EXPECT_EQ(found(good), "");
  const std::string why = ": the control plane of --kubeconfig is not ours";
  struct Case {
    Action action;
    std::string error;
  };
  const std::vector<Case> cases = {
      {Cut{.target = "a"}, ""},
      {Kill{.process = Process::edge, .target = "a"}, ""},
      {Degrade{.target = "a", .link = {}}, ""},
      {Cut{.target = "cloud"}, "s.yaml:4: cloud: link cut" + why},
      {Heal{.target = "cloud"}, "s.yaml:4: cloud: link healed" + why},
      {Flap{.target = "cloud"}, "s.yaml:4: cloud: link flaps" + why},
      {Degrade{.target = "cloud", .link = {.name = "4g"}}, "s.yaml:4: cloud: link is 4g" + why},
      {Kill{.process = Process::cloud, .target = {}}, "s.yaml:4: holdfast-cloud killed" + why},
      {Pause{.process = Process::api_server, .target = {}}, "s.yaml:4: API server paused" + why},
      {ApiServerFault{}, "s.yaml:4: API server: answers 503" + why}};
  for (const Case& each : cases) {
    Scenario scenario = good;
    scenario.events.push_back({.at = {}, .duration = {}, .action = each.action, .line = 4});
    EXPECT_EQ(found(scenario), each.error);
  }
  Scenario scenario = good;
  scenario.cloud = {{"node-eviction-rate", "1"}, {"node-monitor-period", "1s"}};
  scenario.expectations.push_back({.measure = Measure::requests,
                                   .of = {},
                                   .at_least = {},
                                   .at_most = 5,
                                   .within = {},
                                   .text = {},
                                   .line = 9});
  EXPECT_EQ(found(scenario),
            "s.yaml: cloud: node-eviction-rate, node-monitor-period: holdfast-cloud is not started "
            "with --kubeconfig, because it would judge all nodes of the cluster, not only those of "
            "the run, and the cluster's own controllers judge them already\n"
            "s.yaml:9: requests-per-second: the cluster's audit log is not ours");
  scenario = good;
  scenario.sites[0].name = std::string(60, 'a');
  EXPECT_TRUE(found(scenario).starts_with("node: \"aaa")) << found(scenario);
}

}  // namespace
}  // namespace holdfast::agent::lab::run
