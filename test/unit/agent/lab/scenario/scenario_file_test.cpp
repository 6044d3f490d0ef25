// A scenario with everything in it, and files on disk.

#include "agent/lab/scenario/scenario_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "test/support/scratch_dir.h"
#include "test/unit/agent/lab/scenario/scenario_text.h"

namespace holdfast::agent::lab {
namespace {

using namespace std::chrono_literals;

constexpr const char* full_text = R"(name: everything
about: every key once
duration: 2h
seed: 18446744073709551615
fleet:
  sites:
  - name: a
    nodes: 3
    zone: north
    link: satellite
    agent: holdfast
    labels: {role: cell, empty: ""}
    annotations: {node.beta.openyurt.io/autonomy: "true"}
    taints: [{key: edge, value: only, effect: NoSchedule}]
    capacity: {cpu: 500m, memory: 1Gi, pods: 20}
  - {name: b, agent: none}
workloads:
- deployment: web
  namespace: shop
  replicas: 3
  on: a
  requests: {cpu: 100m, memory: 64Mi}
  priority: 1000
  tolerations:
  - {key: node.kubernetes.io/unreachable, effect: NoExecute, seconds: 30}
  - {}
  budget: {min-available: 2}
  start: 5s
  grace: 10s
  stop: 500ms
- {daemonset: probe}
- {statefulset: db, replicas: 2}
- {job: count, run-time: 1m}
events:
- {at: 30m, heal: b}
- {at: 10m, cut: a, for: 47m, direction: up, kind: reset}
- {at: 10m, cut: [b, a-1]}
- {at: 11m, flap: all, up: 30s, down: 10s, for: 5m}
- {at: 12m, degrade: a, link: nb-iot}
- {at: 13m, power-loss: a-2, for: 1m}
- {at: 14m, kill: b, process: kubelet}
- {at: 14m, kill: cloud, for: 10s}
- {at: 15m, pause: api-server, for: 10s}
- {at: 16m, clock-step: a, by: -1h}
- {at: 17m, clock-drift: a-1, rate: 1.001}
- {at: 18m, disk-full: a}
- {at: 19m, drain: a-1}
- {at: 20m, uncordon: a-1}
- {at: 21m, rollout: deployment/web}
- {at: 22m, scale: db, replicas: 3}
- {at: 23m, delete-pods: web, on: a}
- {at: 24m, api-server: overloaded, for: 1m}
expect:
- {restarts: 0, of: a}
- {evictions, of: deployment/web, at-least: 2, within: 6m}
- unavailable:
  of: web
  at-most: 1m30s
- {requests-per-second, at-most: 200}
- {bytes, at-most: 5MiB}
- {not-ready, of: a-1, at-least: 1, at-most: 1}
)";

TEST(ScenarioFile, FleetAndWorkloadsAreRead) {
  const auto scenario = parse_text(full_text);
  ASSERT_TRUE(scenario) << scenario.error().what;
  EXPECT_EQ(scenario->name, "everything");
  EXPECT_EQ(scenario->about, "every key once");
  EXPECT_EQ(scenario->duration, 2h);
  EXPECT_EQ(scenario->seed, 18446744073709551615U);
  Site a{.name = "a", .nodes = 3, .zone = "north", .link = *named_profile("satellite")};
  a.labels = {{"role", "cell"}, {"empty", ""}};
  a.annotations = {{"node.beta.openyurt.io/autonomy", "true"}};
  a.taints = {{"edge", "only", "NoSchedule"}};
  a.cpu = "500m";
  a.memory = "1Gi";
  a.pods = 20;
  Site b{.name = "b", .zone = "b", .link = *named_profile("ethernet")};
  b.agent = NodeAgent::none;
  EXPECT_EQ(scenario->sites, (std::vector<Site>{a, b}));
  Workload web{.name = "web", .namespace_name = "shop", .replicas = 3, .on = "a"};
  web.cpu = "100m";
  web.memory = "64Mi";
  web.priority = 1000;
  web.tolerations = {
      {"node.kubernetes.io/unreachable", "Exists", "", "NoExecute", 30},
      {},
  };
  web.min_available = 2;
  web.start = 5s;
  web.grace = 10s;
  web.stop = 500ms;
  const Workload probe{.kind = WorkloadKind::daemon_set, .name = "probe"};
  const Workload db{.kind = WorkloadKind::stateful_set, .name = "db", .replicas = 2};
  Workload count{.kind = WorkloadKind::job, .name = "count"};
  count.run_time = 1min;
  EXPECT_EQ(scenario->workloads, (std::vector<Workload>{web, probe, db, count}));
}

TEST(ScenarioFile, WhatIsNotWrittenHasTheDefaultsOfTheReadme) {
  const auto scenario = parse_text(
      "name: x\nduration: 1h\nfleet: {sites: [{name: a}]}\n"
      "workloads: [{deployment: web, tolerations: [{key: k}]}]\n"
      "events: [{at: 1m, cut: a}, {at: 2m, flap: a, up: 1s, down: 1s}]\n");
  ASSERT_TRUE(scenario) << scenario.error().what;
  EXPECT_EQ(scenario->seed, 1U);
  const Site& site = scenario->sites.at(0);
  EXPECT_EQ(site.nodes, 1);
  EXPECT_EQ(site.zone, "a");
  EXPECT_EQ(site.link, *named_profile("ethernet"));
  EXPECT_EQ(site.agent, NodeAgent::holdfast);
  EXPECT_EQ(site.cpu, "4");
  EXPECT_EQ(site.memory, "4Gi");
  EXPECT_EQ(site.pods, 110);
  EXPECT_EQ(site.labels.size() + site.annotations.size() + site.taints.size(), 0U);
  const Workload& web = scenario->workloads.at(0);
  EXPECT_EQ(web.namespace_name, "default");
  EXPECT_EQ(web.replicas, 1);
  EXPECT_EQ(web.on + web.cpu + web.memory, "");
  EXPECT_EQ(web.priority, 0);
  EXPECT_EQ(web.tolerations, (std::vector<Toleration>{{"k", "Exists", "", "", std::nullopt}}));
  EXPECT_EQ(web.min_available, std::nullopt);
  EXPECT_EQ(web.start, 2s);
  EXPECT_EQ(web.grace, 30s);
  EXPECT_EQ(web.stop, 0s);
  const auto cut = std::get<Cut>(scenario->events.at(0).action);
  EXPECT_EQ(cut.direction, Direction::both);
  EXPECT_EQ(cut.kind, CutKind::black_hole);
  EXPECT_EQ(std::get<Flap>(scenario->events.at(1).action).kind, CutKind::black_hole);
}

// A list of `count` entries with their numbers between `before` and `after`.
std::string numbered_entries(int count, const std::string& before, const std::string& after) {
  std::string list = "[";
  for (int number = 1; number <= count; ++number) {
    list += (number == 1 ? "" : ", ") + before + std::to_string(number) + after;
  }
  return list + "]";
}

TEST(ScenarioFile, SitesWorkloadsAndEventsAreAtMost10000) {
  const std::string head = "name: x\nduration: 1h\n";
  const std::string fleet = head + "fleet: {sites: [{name: a}]}\n";
  const struct {
    std::string text;
    std::string before;
    std::string after;
    std::string error;
  } rows[] = {{head + "fleet:\n  sites: ", "{name: s", "}",
               "s.yaml:4:10: fleet.sites: 10001 entries; at most 10000 are allowed"},
              {fleet + "workloads: ", "{deployment: w", "}",
               "s.yaml:4:12: workloads: 10001 entries; at most 10000 are allowed"},
              {fleet + "events: ", "{cut: a, at: ", "ms}",
               "s.yaml:4:9: events: 10001 entries; at most 10000 are allowed"}};
  for (const auto& row : rows) {
    EXPECT_EQ(error_of(row.text + numbered_entries(10'000, row.before, row.after)), "");
    EXPECT_EQ(error_of(row.text + numbered_entries(10'001, row.before, row.after)), row.error);
  }
}

// One line for each event: when, how long, which action (its index in the variant), line.
std::string event_text(const ScenarioEvent& event) {
  return format_duration(event.at) + " " +
         (event.duration ? format_duration(*event.duration) : "-") + " " +
         std::to_string(event.action.index()) + " " + std::to_string(event.line);
}

TEST(ScenarioFile, EventsAreSortedByTime) {
  const auto scenario = parse_text(full_text);
  ASSERT_TRUE(scenario) << scenario.error().what;
  std::vector<std::string> events;
  for (const ScenarioEvent& event : scenario->events) events.push_back(event_text(event));
  const std::vector<std::string> expected = {
      "10m0s 47m0s 0 36", "10m0s - 0 37",  "10m0s - 0 37",     "11m0s 5m0s 2 38", "12m0s - 3 39",
      "13m0s 1m0s 4 40",  "14m0s - 5 41",  "14m0s 10s 5 42",   "15m0s 10s 6 43",  "16m0s - 7 44",
      "17m0s - 8 45",     "18m0s - 9 46",  "19m0s - 10 47",    "20m0s - 11 48",   "21m0s - 12 49",
      "22m0s - 13 50",    "23m0s - 14 51", "24m0s 1m0s 15 52", "30m0s - 1 35"};
  EXPECT_EQ(events, expected);
}

TEST(ScenarioFile, ActionsHaveTheirValues) {
  const auto scenario = parse_text(full_text);
  ASSERT_TRUE(scenario) << scenario.error().what;
  const auto action = [&scenario](std::size_t i) { return scenario->events[i].action; };
  const auto cut = std::get<Cut>(action(0));
  EXPECT_EQ(cut.target, "a");
  EXPECT_EQ(cut.direction, Direction::up);
  EXPECT_EQ(cut.kind, CutKind::reset);
  EXPECT_EQ(std::get<Cut>(action(1)).target, "b");
  EXPECT_EQ(std::get<Cut>(action(2)).target, "a-1");
  EXPECT_EQ(std::get<Flap>(action(3)).up, 30s);
  EXPECT_EQ(std::get<Degrade>(action(4)).link, *named_profile("nb-iot"));
  EXPECT_EQ(std::get<PowerLoss>(action(5)).target, "a-2");
  EXPECT_EQ(std::get<Kill>(action(6)).process, Process::kubelet);
  EXPECT_EQ(std::get<Kill>(action(7)).process, Process::cloud);
  EXPECT_EQ(std::get<Pause>(action(8)).process, Process::api_server);
  EXPECT_EQ(std::get<ClockStep>(action(9)).by, -1h);
  EXPECT_EQ(std::get<ClockDrift>(action(10)).rate, 1.001);
  EXPECT_EQ(std::get<Rollout>(action(14)).workload, "web");
  EXPECT_EQ(std::get<Scale>(action(15)).replicas, 3);
  EXPECT_EQ(std::get<DeletePods>(action(16)).on, "a");
  EXPECT_EQ(std::get<ApiServerFault>(action(17)).fault, ApiFault::overloaded);
}

TEST(ScenarioFile, ExpectationsAreRead) {
  const auto scenario = parse_text(full_text);
  ASSERT_TRUE(scenario) << scenario.error().what;
  std::vector<std::string> texts;
  for (const Expectation& each : scenario->expectations) texts.push_back(each.text);
  const std::vector<std::string> expected = {"restarts of a: 0",
                                             "evictions of web: at least 2 within 6m",
                                             "unavailable of web: at most 1m30s",
                                             "requests-per-second: at most 200",
                                             "bytes: at most 5MiB",
                                             "not-ready of a-1: at least 1, at most 1"};
  EXPECT_EQ(texts, expected);
  const Expectation& evictions = scenario->expectations[1];
  EXPECT_EQ(evictions.measure, Measure::evictions);
  EXPECT_EQ(evictions.of, "web");
  EXPECT_EQ(evictions.at_least, 2.0);
  EXPECT_EQ(evictions.at_most, std::nullopt);
  EXPECT_EQ(evictions.within, Duration(6min));
  EXPECT_EQ(evictions.line, 55);
  EXPECT_EQ(scenario->expectations[0].at_least, 0.0);
  EXPECT_EQ(scenario->expectations[0].at_most, 0.0);
  EXPECT_EQ(scenario->expectations[2].at_most, 90.0);
  EXPECT_EQ(scenario->expectations[4].at_most, 5.0 * 1024 * 1024);
}

class ScenarioFolder : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) {
    const auto path = dir_.path() / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path.string();
  }

  // The error with the folder's name replaced.
  std::string error(const std::string& more) {
    const std::string path = write("in/s.yaml", with_base(more));
    const auto scenario = read_scenario(path);
    if (scenario) return "";
    const std::string& what = scenario.error().what;
    return what.starts_with(path) ? what.substr(path.size() + 1) : what;
  }

  test::ScratchDir dir_;
};

TEST_F(ScenarioFolder, FilesBelowItAreRead) {
  write("in/apps/web.yaml", "kind: Service\n");
  const std::string path = write("in/s.yaml", with_base("manifests: [apps/web.yaml]\n"));
  const auto scenario = read_scenario(path, {"seed=3"});
  ASSERT_TRUE(scenario) << scenario.error().what;
  EXPECT_EQ(scenario->seed, 3U);
  ASSERT_EQ(scenario->manifests.size(), 1U);
  EXPECT_TRUE(
      std::filesystem::equivalent(scenario->manifests[0], dir_.path() / "in/apps/web.yaml"));
}

TEST_F(ScenarioFolder, FilesOutsideOfItAreNot) {
  write("out.yaml", "secret");
  EXPECT_EQ(error("manifests: [../out.yaml]\n"),
            "5:13: manifests[0]: \"../out.yaml\" is not below the scenario's folder");
  EXPECT_EQ(error("manifests: [/etc/passwd]\n"),
            "5:13: manifests[0]: \"/etc/passwd\" is not below the scenario's folder");
  EXPECT_EQ(error("manifests: [.]\n"),
            "5:13: manifests[0]: \".\" is not below the scenario's folder");
  std::filesystem::create_symlink("../out.yaml", dir_.path() / "in/link.yaml");
  EXPECT_EQ(error("manifests: [link.yaml]\n"),
            "5:13: manifests[0]: \"link.yaml\" is not below the scenario's folder");
  std::filesystem::create_directory(dir_.path() / "in/sub");
  EXPECT_EQ(error("manifests: [sub]\n"), "5:13: manifests[0]: \"sub\" is not a file");
  EXPECT_EQ(error("manifests: [none.yaml]\n"),
            "5:13: manifests[0]: there is no file \"none.yaml\"");
  write("in/big.yaml", std::string((1 << 20) + 1, 'a'));
  EXPECT_EQ(error("manifests: [big.yaml]\n"),
            "5:13: manifests[0]: \"big.yaml\" has more than 1048576 bytes");
}

TEST_F(ScenarioFolder, TheFileItselfIsLimited) {
  const auto missing = read_scenario((dir_.path() / "none.yaml").string());
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Errc::not_found);
  const auto big = read_scenario(write("big.yaml", std::string((1 << 20) + 1, '#')));
  ASSERT_FALSE(big);
  EXPECT_EQ(big.error().code, Errc::exhausted);
}

}  // namespace
}  // namespace holdfast::agent::lab
