// Each mistake in a scenario file, with the complete text of its error.

#include <gtest/gtest.h>

#include "test/unit/agent/lab/scenario/scenario_text.h"

namespace holdfast::agent::lab {
namespace {

struct Mistake {
  std::string name;  // also the test's name
  std::string text;
  std::string error;
};

class ScenarioMistake : public testing::TestWithParam<Mistake> {};

TEST_P(ScenarioMistake, IsExplained) { EXPECT_EQ(error_of(GetParam().text), GetParam().error); }

std::vector<Mistake> root_mistakes() {
  return {
      {"Empty", "", "s.yaml:1:1: the file is empty"},
      {"NotYaml", "name: [", "s.yaml:1:1: end of sequence flow not found"},
      {"Tab", "fleet:\n\tsites: []\n", "s.yaml:2:7: illegal map value"},
      {"AList", "- a\n", "s.yaml:1:1: expected a map, not a list"},
      {"TwoDocuments", "name: a\n---\nname: b\n", "s.yaml:3:1: more than one document"},
      {"Alias", "name: &n a\nabout: *n\n", "s.yaml:2:8: aliases (*name) are not supported"},
      {"MapAsKey", "? {a: b}\n: c\n", "s.yaml:1:3: a key must be a word"},
      {"EverythingMissing", "about: x\n",
       "s.yaml:1:1: \"name\" is missing\ns.yaml:1:1: \"duration\" is missing\ns.yaml:1:1: "
       "\"fleet\" is missing"},
      {"UnknownKey", with_base("event: []\n"),
       "s.yaml:5:1: event: unknown key; did you mean \"events\"?"},
      {"UnknownKeyFarFromAll", with_base("zzzzzzzz: []\n"),
       "s.yaml:5:1: zzzzzzzz: unknown key; known are name, about, duration, seed, fleet, "
       "workloads, manifests, cloud, edge, events and expect"},
      {"TwiceAKey", with_base("seed: 1\nseed: 2\n"),
       "s.yaml:6:1: seed: stands twice; first in line 5"},
      {"Seed", with_base("seed: -1\n"),
       "s.yaml:5:7: seed: expected a whole number from 0 to 2^64-1, not \"-1\""},
      {"Duration", "name: x\nduration: soon\nfleet: {sites: [{name: a}]}\n",
       "s.yaml:2:11: duration: not a duration like 47m or 1h30m: \"soon\""},
      {"LongDuration", "name: x\nduration: 900000h\nfleet: {sites: [{name: a}]}\n",
       "s.yaml:2:11: duration: \"900000h\" is not within 1s to 876000h0m0s"},
      {"ControlCharacters", with_base("about: \"a\\ebc\"\n"),
       "s.yaml:5:8: about: has control characters: \"a\\x1bbc\""},
  };
}

std::vector<Mistake> fleet_mistakes() {
  const auto fleet = [](const std::string& sites) {
    return "name: x\nduration: 1h\nfleet:\n  sites:\n" + sites;
  };
  return {
      {"NoSites", "name: x\nduration: 1h\nfleet: {}\n", "s.yaml:3:8: fleet: \"sites\" is missing"},
      {"EmptySites", "name: x\nduration: 1h\nfleet: {sites: []}\n",
       "s.yaml:3:16: fleet.sites: a fleet needs a site"},
      {"SiteWithoutName", fleet("  - {nodes: 3}\n"),
       "s.yaml:5:5: fleet.sites[0]: \"name\" is missing"},
      {"SiteName", fleet("  - {name: A_b}\n"),
       "s.yaml:5:12: fleet.sites[0].name: \"A_b\": a lowercase RFC 1123 label must consist of "
       "lower case alphanumeric characters or '-', and must start and end with an alphanumeric "
       "character (e.g. 'my-name',  or '123-abc', regex used for validation is "
       "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"},
      {"ReservedName", fleet("  - {name: cloud}\n"),
       "s.yaml:5:12: fleet.sites[0].name: \"cloud\" is reserved"},
      {"TwoSites", fleet("  - {name: a}\n  - {name: a}\n"),
       "s.yaml:6:5: fleet.sites[1]: two sites are called \"a\""},
      {"SiteAndNode", fleet("  - {name: a, nodes: 3}\n  - {name: a-2}\n"),
       "s.yaml:6:5: fleet.sites[1]: \"a-2\" is also the name of a node of site \"a\""},
      {"Nodes", fleet("  - {name: a, nodes: many}\n"),
       "s.yaml:5:22: fleet.sites[0].nodes: expected a whole number from 1 to 200000, not \"many\""},
      {"TooManyNodes", fleet("  - {name: a, nodes: 150000}\n  - {name: b, nodes: 60000}\n"),
       "s.yaml:5:3: fleet.sites: 210000 nodes; at most 200000 are allowed"},
      {"Zne", fleet("  - {name: a, zne: z}\n"),
       "s.yaml:5:15: fleet.sites[0].zne: unknown key; did you mean \"zone\"?"},
      {"Agent", fleet("  - {name: a, agent: yurthub}\n"),
       "s.yaml:5:22: fleet.sites[0].agent: unknown agent \"yurthub\"; expected holdfast or none"},
      {"Label", fleet("  - {name: a, labels: {\"a b\": c}}\n"),
       "s.yaml:5:24: fleet.sites[0].labels.a b: \"a b\": name part must consist of alphanumeric "
       "characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. "
       "'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
       "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"},
      {"LabelValue", fleet("  - {name: a, labels: {role: \"a b\"}}\n"),
       "s.yaml:5:30: fleet.sites[0].labels.role: \"a b\": a valid label must be an empty string or "
       "consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
       "alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for "
       "validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"},
      {"ZoneLabel", fleet("  - {name: a, labels: {topology.kubernetes.io/zone: z}}\n"),
       "s.yaml:5:5: fleet.sites[0]: topology.kubernetes.io/zone is set by the key zone"},
      {"Taint", fleet("  - {name: a, taints: [{key: k, effect: NoExec}]}\n"),
       "s.yaml:5:41: fleet.sites[0].taints[0].effect: unknown effect \"NoExec\"; expected "
       "NoSchedule, PreferNoSchedule or NoExecute"},
      {"Capacity", fleet("  - {name: a, capacity: {cpu: lots, pods: 0}}\n"),
       "s.yaml:5:31: fleet.sites[0].capacity.cpu: not a quantity like 500m or 4Gi: "
       "\"lots\"\ns.yaml:5:43: fleet.sites[0].capacity.pods: expected a whole number from 1 to "
       "10000, not \"0\""},
      {"Profile", fleet("  - {name: a, link: 5g}\n"),
       "s.yaml:5:21: fleet.sites[0].link: unknown profile \"5g\"; did you mean \"4g\"?"},
      {"ProfileFarFromAll", fleet("  - {name: a, link: pigeon}\n"),
       "s.yaml:5:21: fleet.sites[0].link: unknown profile \"pigeon\"; known are ethernet, 4g, "
       "satellite and nb-iot"},
      {"LinkNumbers", fleet("  - name: a\n    link: {latency: 5, loss: 1.5, rate: 2Mb}\n"),
       "s.yaml:6:21: fleet.sites[0].link.latency: not a duration like 47m or 1h30m: "
       "\"5\"\ns.yaml:6:30: fleet.sites[0].link.loss: must be below 1: \"1.5\"\ns.yaml:6:41: "
       "fleet.sites[0].link.rate: not a rate like 2Mbit/s or 64KiB/s: \"2Mb\""},
      {"LinkDirection", fleet("  - name: a\n    link: {up: {rte: 1kbit/s}}\n"),
       "s.yaml:6:17: fleet.sites[0].link.up.rte: unknown key; did you mean \"rate\"?"},
      {"TraceIsMissing", fleet("  - {name: a, link: {trace: x.csv}}\n"),
       "s.yaml:5:29: fleet.sites[0].link.trace: there is no file \"x.csv\""},
      {"SeveralMistakes", fleet("  - {name: a, link: 5g}\n  - {name: b, nodes: 0}\n"),
       "s.yaml:5:21: fleet.sites[0].link: unknown profile \"5g\"; did you mean "
       "\"4g\"?\ns.yaml:6:22: fleet.sites[1].nodes: expected a whole number from 1 to 200000, not "
       "\"0\""},
  };
}

std::vector<Mistake> workload_mistakes() {
  const auto workload = [](const std::string& text) {
    return "name: x\nduration: 1h\nfleet: {sites: [{name: a}]}\nworkloads:\n- " + text + "\n";
  };
  return {
      {"NoKind", workload("{replicas: 3}"),
       "s.yaml:5:3: workloads[0]: expected a name with the key deployment, daemonset, statefulset "
       "or job"},
      {"TwoKinds", workload("{deployment: web, job: web}"),
       "s.yaml:5:3: workloads[0]: is both a deployment and a job"},
      {"DaemonReplicas", workload("{daemonset: d, replicas: 3}"),
       "s.yaml:5:28: workloads[0].replicas: a daemonset has no replicas"},
      {"JobWithoutEnd", workload("{job: j}"), "s.yaml:5:3: workloads[0]: \"run-time\" is missing"},
      {"RunTimeOfADeployment", workload("{deployment: d, run-time: 5s}"),
       "s.yaml:5:29: workloads[0].run-time: a deployment has no run-time"},
      {"OnNothing", workload("{deployment: d, on: aa}"),
       "s.yaml:5:23: workloads[0].on: unknown name \"aa\"; did you mean \"a\"?"},
      {"OnANode", workload("{deployment: d, on: a-1}"),
       "s.yaml:5:23: workloads[0].on: expected a site, not a node (a-1)"},
      {"WorkloadCalledLikeASite", workload("{deployment: a}"),
       "s.yaml:5:3: workloads[0]: \"a\" is also the name of a site or node"},
      {"TwoWorkloads", workload("{deployment: web}\n- {job: web, run-time: 1s}"),
       "s.yaml:6:3: workloads[1]: two workloads are called \"web\""},
      {"Requests", workload("{deployment: d, requests: {cpu: -1, memory: 1Q}}"),
       "s.yaml:5:35: workloads[0].requests.cpu: not a quantity like 500m or 4Gi: "
       "\"-1\"\ns.yaml:5:47: workloads[0].requests.memory: not a quantity like 500m or 4Gi: "
       "\"1Q\""},
      {"Budget", workload("{deployment: d, replicas: 2, budget: {min-available: 3}}"),
       "s.yaml:5:3: workloads[0]: budget.min-available is above replicas"},
      {"BudgetIsEmpty", workload("{deployment: d, budget: {}}"),
       "s.yaml:5:27: workloads[0].budget: \"min-available\" is missing"},
      {"TolerationSeconds", workload("{deployment: d, tolerations: [{key: k, seconds: 5}]}"),
       "s.yaml:5:33: workloads[0].tolerations[0]: seconds needs effect: NoExecute"},
      {"TolerationValue", workload("{deployment: d, tolerations: [{key: k, value: v}]}"),
       "s.yaml:5:33: workloads[0].tolerations[0]: a value needs operator: Equal"},
      {"TolerationWithoutKey", workload("{deployment: d, tolerations: [{operator: Equal}]}"),
       "s.yaml:5:33: workloads[0].tolerations[0]: operator Equal needs a key"},
      {"Grace", workload("{deployment: d, grace: 30}"),
       "s.yaml:5:26: workloads[0].grace: not a duration like 47m or 1h30m: \"30\""},
      {"ManifestIsMissing", with_base("manifests: [web.yaml]\n"),
       "s.yaml:5:13: manifests[0]: there is no file \"web.yaml\""},
  };
}

std::vector<Mistake> event_mistakes() {
  const auto event = [](const std::string& text) { return with_base("events:\n- " + text + "\n"); };
  return {
      {"NoAction", event("{at: 1m}"),
       "s.yaml:6:3: events[0]: has no action; known are cut, heal, flap, degrade, power-loss, "
       "kill, pause, clock-step, clock-drift, disk-full, drain, uncordon, rollout, scale, "
       "delete-pods and api-server"},
      {"UnknownAction", event("{at: 1m, cutt: a}"),
       "s.yaml:6:12: events[0].cutt: unknown action; did you mean \"cut\"?"},
      {"TwoActions", event("{at: 1m, cut: a, drain: a}"),
       "s.yaml:6:3: events[0]: has two actions: cut and drain"},
      {"NotAMap", event("cut a"), "s.yaml:6:3: events[0]: expected a map, not a word"},
      {"NoTime", event("{cut: a}"), "s.yaml:6:3: events[0]: \"at\" is missing"},
      {"TimeAfterTheEnd", event("{at: 2h, cut: a}"),
       "s.yaml:6:8: events[0].at: \"2h\" is not within 0s to 1h0m0s"},
      {"EndAfterTheEnd", event("{at: 50m, cut: a, for: 20m}"),
       "s.yaml:6:26: events[0].for: ends at 1h10m0s, after the scenario's end at 1h0m0s"},
      {"UnknownTarget", event("{at: 1m, cut: web2}"),
       "s.yaml:6:17: events[0].cut: unknown name \"web2\"; expected a site, a node, all or cloud"},
      {"NearTarget", event("{at: 1m, cut: al}"),
       "s.yaml:6:17: events[0].cut: unknown name \"al\"; did you mean \"all\"?"},
      {"NodeThatIsNotThere", event("{at: 1m, cut: a-3}"),
       "s.yaml:6:17: events[0].cut: unknown node \"a-3\": the last one of site a is a-2"},
      {"WorkloadAsPlace", event("{at: 1m, cut: web}"),
       "s.yaml:6:17: events[0].cut: expected a site, a node, all or cloud, not a "
       "workload (web)"},
      {"TargetWithoutALink", event("{at: 1m, cut: api-server}"),
       "s.yaml:6:17: events[0].cut: expected a site, a node, all or cloud, not api-server"},
      {"NoTarget", event("{at: 1m, cut: }"),
       "s.yaml:6:12: events[0].cut: expected a target's name, not nothing"},
      {"ForOfADrain", event("{at: 1m, drain: a, for: 5m}"),
       "s.yaml:6:27: events[0].for: drain happens once: it has no \"for\""},
      {"DrainOfAll", event("{at: 1m, drain: all}"),
       "s.yaml:6:19: events[0].drain: expected a site or a node, not all"},
      {"UncordonOfAll", event("{at: 1m, uncordon: [a, all]}"),
       "s.yaml:6:26: events[0].uncordon[1]: expected a site or a node, not all"},
      {"KeyOfAnotherAction", event("{at: 1m, cut: a, replicas: 5}"),
       "s.yaml:6:20: events[0].replicas: unknown key; known are at, for, cut, direction and kind"},
      {"Direction", event("{at: 1m, cut: a, direction: sideways, kind: refused}"),
       "s.yaml:6:31: events[0].direction: unknown direction \"sideways\"; expected both, up or "
       "down\ns.yaml:6:47: events[0].kind: unknown kind \"refused\"; did you mean \"refuse\"?"},
      {"FlapWithoutTimes", event("{at: 1m, flap: a}"),
       "s.yaml:6:3: events[0]: \"up\" is missing\ns.yaml:6:3: events[0]: \"down\" is missing"},
      {"DegradeWithoutLink", event("{at: 1m, degrade: a}"),
       "s.yaml:6:3: events[0]: \"link\" is missing"},
      {"KillWithoutProcess", event("{at: 1m, kill: a}"),
       "s.yaml:6:3: events[0]: \"process\" is missing"},
      {"KillOfNoProcess", event("{at: 1m, kill: a, process: kublet}"),
       "s.yaml:6:30: events[0].process: unknown process \"kublet\"; did you mean \"kubelet\"?"},
      {"ProcessOfTheCloud", event("{at: 1m, kill: cloud, process: edge}"),
       "s.yaml:6:25: events[0].process: unknown key; known are at, for and kill"},
      {"EdgeThatIsNotThere", event("{at: 1m, kill: b-1, process: edge}"),
       "s.yaml:6:18: events[0].kill: site b has no holdfast-edge (agent: none)"},
      {"ClockStep", event("{at: 1m, clock-step: a, by: yesterday}"),
       "s.yaml:6:31: events[0].by: not a duration like 47m or 1h30m: \"yesterday\""},
      {"ClockDrift", event("{at: 1m, clock-drift: a, rate: 7}"),
       "s.yaml:6:34: events[0].rate: expected a number from 0.5 to 2, not \"7\""},
      {"ScaleOfADaemonSet", event("{at: 1m, scale: probe, replicas: 2}"),
       "s.yaml:6:19: events[0].scale: a daemonset cannot be scaled"},
      {"RolloutOfAJob", event("{at: 1m, rollout: count}"),
       "s.yaml:6:21: events[0].rollout: the template of a job cannot change"},
      {"RolloutOfASite", event("{at: 1m, rollout: a}"),
       "s.yaml:6:21: events[0].rollout: expected a workload, not a site (a)"},
      {"DeleteOnNothing", event("{at: 1m, delete-pods: web, on: c}"),
       "s.yaml:6:34: events[0].on: unknown name \"c\"; expected a site or a node"},
      {"ApiFault", event("{at: 1m, api-server: unavailble}"),
       "s.yaml:6:24: events[0].api-server: unknown fault \"unavailble\"; did you mean "
       "\"unavailable\"?"},
      {"SomeTargetsHaveNoEdge", event("{at: 1m, kill: [a, b-1], process: edge}"),
       "s.yaml:6:18: events[0].kill: site b has no holdfast-edge (agent: none)"},
      {"OneMistakeForManyTargets", event("{at: 1m, flap: [a, b], up: 1m}"),
       "s.yaml:6:3: events[0]: \"down\" is missing"},
  };
}

std::vector<Mistake> expectation_mistakes() {
  const auto expect = [](const std::string& text) {
    return with_base("expect:\n- " + text + "\n");
  };
  return {
      {"NoMeasure", expect("{of: a, at-most: 0}"),
       "s.yaml:6:3: expect[0]: has no measure; known are restarts, evictions, unavailable, "
       "requests-per-second, bytes, not-ready and duplicates"},
      {"UnknownMeasure", expect("{restart, at-most: 0}"),
       "s.yaml:6:4: expect[0].restart: unknown measure; did you mean \"restarts\"?"},
      {"TwoMeasures", expect("{restarts: 0, evictions: 0}"),
       "s.yaml:6:3: expect[0]: has two measures: restarts and evictions"},
      {"NoBound", expect("{restarts, of: a}"),
       "s.yaml:6:3: expect[0]: at-least or at-most is missing"},
      {"TwoKindsOfBounds", expect("{restarts: 0, at-most: 1}"),
       "s.yaml:6:3: expect[0]: a number with restarts excludes at-least and at-most"},
      {"BoundsTheWrongWayRound", expect("{restarts, at-least: 2, at-most: 1}"),
       "s.yaml:6:3: expect[0]: at-least is above at-most"},
      {"WithinWithoutAtLeast", expect("{restarts, at-most: 1, within: 5m}"),
       "s.yaml:6:3: expect[0]: within needs at-least"},
      {"WithinOfTime", expect("{unavailable, of: web, at-least: 30s, within: 5m}"),
       "s.yaml:6:49: expect[0].within: unavailable has no within; only restarts, evictions and "
       "not-ready have it"},
      {"WithinOfRequests", expect("{requests-per-second, at-least: 30, within: 5m}"),
       "s.yaml:6:47: expect[0].within: requests-per-second has no within; only restarts, evictions "
       "and not-ready have it"},
      {"WithinOfBytes", expect("{bytes, of: a, at-least: 1MB, within: 5m}"),
       "s.yaml:6:41: expect[0].within: bytes has no within; only restarts, evictions and not-ready "
       "have it"},
      {"WithinOfDuplicates", expect("{duplicates, at-least: 1, within: 5m}"),
       "s.yaml:6:37: expect[0].within: duplicates has no within; only restarts, evictions and "
       "not-ready have it"},
      {"OfAWorkloadThatIsNotThere", expect("{unavailable, of: wb, at-most: 30s}"),
       "s.yaml:6:21: expect[0].of: unknown name \"wb\"; did you mean \"web\"?"},
      {"UnavailableOfASite", expect("{unavailable, of: a, at-most: 30s}"),
       "s.yaml:6:21: expect[0].of: expected a workload, not a site (a)"},
      {"RequestsOfASite", expect("{requests-per-second, of: a, at-most: 30}"),
       "s.yaml:6:29: expect[0].of: requests-per-second is of everything"},
      {"HalfARestart", expect("{restarts, at-most: 0.5}"),
       "s.yaml:6:23: expect[0].at-most: not a count: \"0.5\""},
      {"MoreRestartsThanAnIntegerHolds",
       expect("{restarts, at-most: 1" + std::string(77, '0') + "}"),
       "s.yaml:6:23: expect[0].at-most: not a count: \"1" + std::string(77, '0') + "\""},
      {"Seconds", expect("{unavailable, of: web, at-most: 30}"),
       "s.yaml:6:35: expect[0].at-most: not a duration like 30s: \"30\""},
      {"DuplicatesOfADeployment", expect("{duplicates: 0, of: web}"),
       "s.yaml:6:23: expect[0].of: web is no statefulset"},
      {"Bytes", expect("{bytes, of: a, at-most: 30Mbit}"),
       "s.yaml:6:27: expect[0].at-most: not a size like 512KiB or 5MB: \"30Mbit\""},
  };
}

std::vector<Mistake> flag_mistakes() {
  return {
      {"CloudFlag", with_base("cloud: {node-monitor-graceperiod: 40s}\n"),
       "s.yaml:5:9: cloud.node-monitor-graceperiod: unknown flag of holdfast-cloud; did you mean "
       "\"node-monitor-grace-period\"?"},
      {"CloudValue", with_base("cloud: {node-monitor-grace-period: 40}\n"),
       "s.yaml:5:36: cloud.node-monitor-grace-period: not a duration: \"40\""},
      {"CloudRange", with_base("cloud:\n  node-eviction-rate: -1\n"),
       "s.yaml:6:23: cloud.node-eviction-rate: --node-eviction-rate must not be negative"},
      {"CloudContradiction",
       with_base("cloud:\n  node-lease-duration: 60s\n  controllers: [\"*\"]\n"),
       "s.yaml:6:24: cloud.node-lease-duration: --node-monitor-grace-period 50s is below "
       "--node-lease-duration 1m0s"},
      {"CloudListOfMaps", with_base("cloud: {controllers: [{a: b}]}\n"),
       "s.yaml:5:23: cloud.controllers[0]: expected a word, not a map"},
      {"CloudKubeconfig", with_base("cloud: {kubeconfig: /etc/passwd}\n"),
       "s.yaml:5:9: cloud.kubeconfig: is set by the lab itself"},
      {"CloudMode", with_base("cloud: {autonomy-mode: withold}\n"),
       "s.yaml:5:24: cloud.autonomy-mode: \"withold\" is none of withhold, openyurt, "
       "openyurt-classic, off"},
      {"CloudControlCharacters", with_base("cloud: {node-monitor-period: \"\\e[31m\"}\n"),
       "s.yaml:5:30: cloud.node-monitor-period: not a duration: \"\\x1b[31m\""},
      {"EdgeFlag", with_base("edge: {probe-dedline: 1s}\n"),
       "s.yaml:5:8: edge.probe-dedline: unknown flag of holdfast-edge; did you mean "
       "\"probe-deadline\"?"},
      {"EdgeRange", with_base("edge: {lease-renew-interval: 50s}\n"),
       "s.yaml:5:30: edge.lease-renew-interval: --lease-renew-interval must be below "
       "--lease-duration"},
      {"EdgeRetired", with_base("edge: {runtime: process}\n"),
       "s.yaml:5:8: edge.runtime: holdfast-edge runs no pods: start holdfast-node, which has this "
       "flag"},
      {"EdgeDataDir", with_base("edge: {data-dir: /etc}\n"),
       "s.yaml:5:8: edge.data-dir: is set by the lab itself"},
      {"EdgeNothing", with_base("edge: {probe-deadline: }\n"),
       "s.yaml:5:8: edge.probe-deadline: expected a word or a list of words, not nothing"},
  };
}

std::string name_of(const testing::TestParamInfo<Mistake>& mistake) { return mistake.param.name; }

INSTANTIATE_TEST_SUITE_P(Root, ScenarioMistake, testing::ValuesIn(root_mistakes()), name_of);
INSTANTIATE_TEST_SUITE_P(Fleet, ScenarioMistake, testing::ValuesIn(fleet_mistakes()), name_of);
INSTANTIATE_TEST_SUITE_P(Workload, ScenarioMistake, testing::ValuesIn(workload_mistakes()),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Event, ScenarioMistake, testing::ValuesIn(event_mistakes()), name_of);
INSTANTIATE_TEST_SUITE_P(Expect, ScenarioMistake, testing::ValuesIn(expectation_mistakes()),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Flags, ScenarioMistake, testing::ValuesIn(flag_mistakes()), name_of);

TEST(ScenarioErrors, AtMostTwentyAreShown) {
  std::string text = "name: x\nduration: 1h\nfleet:\n  sites:\n";
  for (int i = 0; i < 23; ++i) text += "  - {name: s" + std::to_string(i) + "x, nodes: 0}\n";
  const std::string error = error_of(text);
  EXPECT_EQ(std::count(error.begin(), error.end(), '\n'), 20);
  EXPECT_TRUE(
      error.ends_with("fleet.sites[19].nodes: expected a whole number from 1 to 200000, "
                      "not \"0\"\nand 3 more"))
      << error;
}

std::string repeated(const std::string& text, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += text;
  return out;
}

TEST(ScenarioErrors, DeepNestingIsRefused) {
  EXPECT_EQ(error_of(repeated("{a: ", 30) + "1" + repeated("}", 30)),
            "s.yaml:1:97: nested too deeply");
  EXPECT_EQ(error_of(repeated("- ", 30) + "a"), "s.yaml:1:49: nested too deeply");
}

// A quarter of a megabyte of each of these must neither exhaust the stack nor take seconds.
TEST(ScenarioErrors, HostileShapesAreRefused) {
  constexpr std::size_t bytes = 1 << 18;
  for (const char* shape :
       {"[",  "{",   "[a,",   "{a:",        "- ", "? ", "a: ", "a:\n ", "&a ", "!a ",
        "\"", "|\n", "---\n", "%TAG ! a\n", "#",  ",",  "*a ", "]",     "a\n", "\t"}) {
    EXPECT_NE(error_of(repeated(shape, bytes / std::string_view(shape).size())), "") << shape;
  }
}

TEST(ScenarioErrors, TheNumberOfValuesIsLimited) {
  ScenarioLimits limits;
  limits.yaml.nodes = 10;
  EXPECT_EQ(error_of("name: [a,b,c,d,e,f,g,h,i]\n", {}, {}, limits),
            "s.yaml:1:22: too many values");
}

}  // namespace
}  // namespace holdfast::agent::lab
