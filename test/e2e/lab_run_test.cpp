// `holdfast-lab run` plays shipped scenarios with real processes, faster than they are written.

#include <unistd.h>

#include <filesystem>
#include <map>
#include <set>

#include "agent/lab/cluster/refusal.h"
#include "agent/lab/result/json.h"
#include "agent/lab/scenario/scenario_file.h"
#include "test/e2e/run_program.h"
#include "test/support/scratch_dir.h"

namespace holdfast {
namespace {

using namespace std::chrono_literals;

using agent::lab::RunResult;
using test::Ended;
using test::run_program;

std::string scenarios() { return HOLDFAST_SOURCE_ROOT "/test/scenarios/"; }

// What is expected, and whether it was met; then which pods ran when.
std::string shown(const RunResult& result) {
  std::string text;
  for (const auto& each : result.expectations) {
    text += std::string(each.met ? "met: " : "NOT MET: ") + each.text + ": " + each.found + "\n";
  }
  return text;
}

std::string shown(const std::vector<agent::lab::Span>& spans) {
  std::string text;
  for (const auto& each : spans) {
    text += " " + each.state + " from " + std::to_string(each.begin / 1ms) + " to " +
            std::to_string(each.end / 1ms) + " ms;";
  }
  return text;
}

// Plays a scenario in a folder of its own and returns its result. Nothing may be left of it.
Result<RunResult> play(
    const std::string& name, std::vector<std::string> flags, const test::ScratchDir& scratch,
    const std::function<void()>& meanwhile = [] {}) {
  const std::string bin = HOLDFAST_BIN_DIR;
  const auto report = scratch.path() / "report.html";
  const auto data = scratch.path() / "data";
  std::vector<std::string> argv = {bin + "/holdfast-lab", "run",
                                   scenarios() + name,    "--report=" + report.string(),
                                   "--output=json",       "--data=" + data.string()};
  argv.insert(argv.end(), flags.begin(), flags.end());
  const Ended ended = run_program(std::move(argv), scratch.path() / "run.log", 90s, meanwhile);
  if (!ended.in_time) return fail(Errc::timeout, ended.output);
  const std::size_t begin = ended.output.find("\n{");
  if (begin == std::string::npos) return fail(Errc::invalid, ended.output);
  TRY(RunResult result, agent::lab::result_from_json(ended.output.substr(begin)));
  EXPECT_EQ(ended.exit, proc::ExitStatus()) << ended.output;
  EXPECT_TRUE(fs::read_all(report, 16UL << 20)) << "the report was written";
  EXPECT_EQ(result.mode, "run");
  return result;
}

// The network namespaces of the agents that run now and name the folder in their command line, by
// process.
std::map<std::string, std::string> namespaces_of_agents(const std::string& folder) {
  std::map<std::string, std::string> found;
  std::error_code ec;
  for (const auto& each : std::filesystem::directory_iterator("/proc", ec)) {
    const std::string command = fs::read_all(each.path() / "cmdline", 1UL << 16).value_or("");
    const bool is_agent = command.substr(0, command.find('\0')).ends_with("/holdfast-edge");
    if (!is_agent || command.find(folder) == std::string::npos) continue;
    const auto space = std::filesystem::read_symlink(each.path() / "ns" / "net", ec);
    if (!ec) found[each.path().filename().string()] = space.string();
  }
  return found;
}

TEST(LabRun, KeepsPodsOfAutonomousSitesAndEvictsOthers) {
  const test::ScratchDir scratch;
  std::map<std::string, std::string> namespace_of;
  const auto look = [&scratch, &namespace_of] {
    EXPECT_TRUE(test::eventually(60s, [&scratch, &namespace_of] {
      namespace_of = namespaces_of_agents(scratch.path().string());
      return namespace_of.size() == 9;
    }));
  };
  const auto result =
      play("unreachable-is-not-dead.yaml",
           {"--speed=30", "--set=duration=13m", "--set=events[0].at=1m", "--set=events[0].for=10m"},
           scratch, look);
  ASSERT_TRUE(result) << result.error().what;
  EXPECT_EQ(result->expectations.size(), 6u);
  for (const auto& each : result->expectations) EXPECT_TRUE(each.met) << shown(*result);
  ASSERT_EQ(result->nodes.size(), 9u);
  std::set<std::string> different;
  for (const auto& [process, space] : namespace_of) different.insert(space);
  const auto own = std::filesystem::read_symlink("/proc/self/ns/net").string();
  const bool is_root = geteuid() == 0;
  EXPECT_EQ(different.size(), is_root ? 9u : 1u) << "one for each node";
  EXPECT_EQ(different.contains(own), !is_root);
  for (const auto& node : result->nodes) {
    const bool is_cut = node.site != "c";
    EXPECT_EQ(node.link.size(), is_cut ? 1u : 0u) << node.name;
    EXPECT_EQ(node.withheld.size(), node.site == "a" ? 1u : 0u)
        << node.name << ": withheld" << shown(node.withheld) << " Ready" << shown(node.ready);
    EXPECT_EQ(node.taints.empty(), node.site != "b") << node.name;
    EXPECT_GT(node.bytes, 1000u) << node.name;
  }
  EXPECT_FALSE(result->requests.empty());
  EXPECT_GT(result->requests_per_second, 0u);
}

TEST(LabRun, BringsPodsBackFromTheCacheAfterAPowerLoss) {
  const test::ScratchDir scratch;
  const auto result =
      play("power-loss-offline.yaml",
           {"--speed=20", "--set=duration=6m", "--set=events[0].at=30s", "--set=events[0].for=5m",
            "--set=events[1].at=1m", "--set=events[1].for=1m", "--set=events[2].at=3m",
            "--set=events[2].for=1m", "--namespaces=false"},
           scratch);
  ASSERT_TRUE(result) << result.error().what;
  for (const auto& each : result->expectations) EXPECT_TRUE(each.met) << shown(*result);
  const auto& node = result->nodes.front();
  EXPECT_EQ(node.name, "farm-1");
  EXPECT_EQ(node.power.size(), 2u);
}

TEST(LabRun, StopsDrainedPodsWhenTheirNodeReturns) {
  const test::ScratchDir scratch;
  const auto result =
      play("drain-during-outage.yaml",
           {"--speed=20", "--set=duration=6m", "--set=events[0].at=30s", "--set=events[0].for=2m",
            "--set=events[1].at=1m", "--set=events[2].at=4m", "--converge=30s"},
           scratch);
  ASSERT_TRUE(result) << result.error().what;
  EXPECT_EQ(result->expectations.size(), 5u) << "four of the file, and the convergence";
  for (const auto& each : result->expectations) EXPECT_TRUE(each.met) << shown(*result);
}

TEST(LabRun, PerformsEveryActionOnRealProcesses) {
  const test::ScratchDir scratch;
  const auto result = play("every-action.yaml", {"--speed=20", "--converge=30s"}, scratch);
  ASSERT_TRUE(result) << result.error().what;
  EXPECT_EQ(result->expectations.size(), 2u) << "that of the file, and the convergence";
  for (const auto& each : result->expectations) EXPECT_TRUE(each.met) << shown(*result);
  std::vector<std::string> performed;
  for (const auto& fault : result->faults) performed.push_back(fault.target + ": " + fault.what);
  const std::vector<std::string> expected = {"a: link is custom",
                                             "b-1: link is 4g",
                                             "b-1: link healed",
                                             "b-1: link flaps",
                                             "a: holdfast-edge killed",
                                             "a: holdfast-node killed",
                                             "b-2: holdfast-edge paused",
                                             "cloud: holdfast-cloud killed",
                                             "cloud: holdfast-cloud paused",
                                             "b-1: drained",
                                             "b-1: uncordoned",
                                             "web: scaled",
                                             "web: rolled out",
                                             "web: pods deleted",
                                             "API server: answers 503",
                                             "a: link cut",
                                             "a: link healed",
                                             "api-server: API server killed",
                                             "api-server: API server paused"};
  EXPECT_EQ(performed, expected);
}

// The scenarios that real processes can play, so that a new one is either played or says why not.
TEST(LabRun, PlaysMostOfTheShippedScenarios) {
  std::vector<std::string> refused;
  auto names = fs::list_dir(scenarios()).value();
  std::sort(names.begin(), names.end());
  std::size_t played = 0;
  for (const std::string& name : names) {
    if (!name.ends_with(".yaml")) continue;
    const auto scenario = agent::lab::read_scenario(scenarios() + name);
    ASSERT_TRUE(scenario) << scenario.error().what;
    if (agent::lab::cluster::check_events(*scenario, name)) {
      ++played;
    } else {
      refused.push_back(name);
    }
  }
  const std::vector<std::string> expected = {"apiserver-pause.yaml", "full-flash.yaml",
                                             "no-clock.yaml"};
  EXPECT_EQ(refused, expected);
  EXPECT_GE(played, 20u);
}

TEST(LabRun, RefusesWhatItCannotPlay) {
  struct Case {
    std::vector<std::string> flags;
    std::string error;
    int code = 2;
  };
  const std::string bin = HOLDFAST_BIN_DIR;
  const std::vector<Case> cases = {
      {{"no-clock.yaml"},
       "only `sim` plays this; all processes of this machine have the same clock"},
      {{"site-outage.yaml"}, "5000 nodes: at most 100 can run as real processes"},
      {{"demo.yaml", "--speed=6"}, "the largest speed for it is 5"},
      {{"demo.yaml", "--speed=0"}, "--speed must be from 1 to 1000"},
      {{"demo.yaml", "--namespaces=maybe"}, "\"maybe\" is not auto, true or false"},
      {{"demo.yaml", "--data=/proc/1"}, "--data"},
      {{"demo.yaml", "--api-server=/nonexistent"}, "/nonexistent/bin has no kube-apiserver", 1},
      {{"demo.yaml", "--kubelet=/nonexistent", "--kubelet-images=/nonexistent"},
       "/nonexistent/bin has no kubelet",
       1},
      {{"demo.yaml", "--kubelet=/nonexistent"}, "--kubelet needs --kubelet-images FILE"},
      {{"demo.yaml", "--kubelet-images=/nonexistent"}, "--kubelet-images needs --kubelet"},
      {{"demo.yaml", "--kubelet=/nonexistent", "--kubelet-on=edge-a,edge-x"},
       "--kubelet-on: the scenario has no site or node \"edge-x\""},
      {{"demo.yaml", "--kubelet=/nonexistent", "--speed=2"}, "a kubelet cannot be played faster"},
      {{"demo.yaml", "--kubelet=/nonexistent", "--namespaces=false"},
       "a kubelet needs a network namespace of its own"},
      {{"demo.yaml", "--kubelet-on=edge-a"}, "--kubelet-on needs --kubelet"},
      {{"demo.yaml", "demo.yaml"}, "one SCENARIO at a time"},
      {{"demo.yaml", "--seed=x"}, "--seed: not a number"},
      {{"demo.yaml", "--output=yaml"}, "--output: \"yaml\" is not json"},
      {{"nothing.yaml"}, "nothing.yaml", 1}};
  for (const Case& each : cases) {
    const test::ScratchDir scratch;
    std::vector<std::string> argv = {bin + "/holdfast-lab", "run", scenarios() + each.flags[0]};
    argv.insert(argv.end(), each.flags.begin() + 1, each.flags.end());
    const Ended ended = run_program(std::move(argv), scratch.path() / "run.log", 20s);
    ASSERT_TRUE(ended.in_time) << ended.output;
    EXPECT_EQ(ended.exit, (proc::ExitStatus{false, each.code})) << ended.output;
    EXPECT_NE(ended.output.find(each.error), std::string::npos) << ended.output;
  }
}

}  // namespace
}  // namespace holdfast
