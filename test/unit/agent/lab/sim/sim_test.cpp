// Whole scenarios in virtual time.

#include "agent/lab/sim/sim.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "agent/lab/scenario/link_profile.h"
#include "agent/lab/sim/random_scenario.h"
#include "agent/lab/sim/sim_options.h"

namespace holdfast::agent::lab::sim {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

using Lines = std::vector<std::string>;

LinkProfile quick_link() {
  LinkProfile link;
  link.name = "ethernet";
  link.up.latency = link.down.latency = std::chrono::milliseconds(5);
  return link;
}

Site site(const std::string& name, NodeAgent agent, bool autonomous) {
  Site made{.name = name, .nodes = 3, .zone = name, .link = quick_link(), .agent = agent};
  if (autonomous) made.annotations["node.beta.openyurt.io/autonomy"] = "true";
  return made;
}

// Site a is autonomous, site b is a plain one with the same workloads.
Scenario two_sites() {
  Scenario scenario;
  scenario.name = "two sites";
  scenario.duration = hours(2);
  scenario.sites = {site("a", NodeAgent::holdfast, true), site("b", NodeAgent::none, false)};
  scenario.workloads = {
      {.name = "web-a", .replicas = 3, .on = "a"},
      {.name = "web-b", .replicas = 3, .on = "b"},
      {.kind = WorkloadKind::stateful_set, .name = "db", .replicas = 2, .on = "a"},
      {.kind = WorkloadKind::daemon_set, .name = "log"}};
  return scenario;
}

SimOutcome play(const Scenario& scenario, std::uint64_t seed = 1) {
  const auto options = options_of(scenario, seed);
  EXPECT_TRUE(options) << options.error().what;
  return simulate(scenario, *options);
}

// "deployment/web 3 wanted, 0 evicted, 0 restarted, 0s unavailable"
Lines workloads_of(const SimOutcome& outcome) {
  Lines lines;
  for (const WorkloadResult& each : outcome.result.workloads) {
    lines.push_back(
        each.name + " " + std::to_string(each.wanted) + " wanted, " + std::to_string(each.evicted) +
        " evicted, " + std::to_string(each.restarted) + " restarted, " +
        format_duration(std::chrono::round<seconds>(each.unavailable)) + " unavailable");
  }
  if (outcome.result.violation) {
    lines.push_back(outcome.result.violation->invariant + ": " + outcome.result.violation->what);
  }
  return lines;
}

struct FaultCase {
  std::string name;
  std::vector<ScenarioEvent> events;
  Lines expected;
};

class SimFaults : public ::testing::TestWithParam<FaultCase> {};

TEST_P(SimFaults, CostWhatTheRulesSay) {
  Scenario scenario = two_sites();
  scenario.events = GetParam().events;
  EXPECT_EQ(workloads_of(play(scenario)), GetParam().expected);
}

Lines nothing_lost() {
  return {"deployment/web-a 3 wanted, 0 evicted, 0 restarted, 0s unavailable",
          "deployment/web-b 3 wanted, 0 evicted, 0 restarted, 0s unavailable",
          "statefulset/db 2 wanted, 0 evicted, 0 restarted, 0s unavailable",
          "daemonset/log 6 wanted, 0 evicted, 0 restarted, 0s unavailable"};
}

INSTANTIATE_TEST_SUITE_P(
    Sim, SimFaults,
    ::testing::Values(
        FaultCase{"Nothing", {}, nothing_lost()},
        FaultCase{"AnAutonomousSiteIsCutOff",
                  {{.at = minutes(10), .duration = minutes(47), .action = Cut{.target = "a"}}},
                  nothing_lost()},
        FaultCase{
            "TheAgentsAreKilledDuringAnOutage",
            {{.at = minutes(10), .duration = minutes(47), .action = Cut{.target = "a"}},
             {.at = minutes(20), .duration = seconds(5), .action = Kill{Process::edge, "a"}},
             {.at = minutes(25), .duration = seconds(5), .action = Kill{Process::kubelet, "a"}}},
            nothing_lost()},
        FaultCase{"TheControllerRestarts",
                  {{.at = minutes(10), .duration = minutes(47), .action = Cut{.target = "a"}},
                   {.at = minutes(30), .duration = minutes(2), .action = Kill{Process::cloud, ""}}},
                  nothing_lost()}),
    [](const auto& each) { return each.param.name; });

// After the default 300 seconds of toleration the plain site's pods are evicted. They end when the
// site is back, and new ones start there.
TEST(Sim, APlainSiteLosesItsPods) {
  Scenario scenario = two_sites();
  scenario.events = {{.at = minutes(10), .duration = minutes(47), .action = Cut{.target = "b"}}};
  const SimOutcome outcome = play(scenario);
  ASSERT_FALSE(outcome.result.violation) << outcome.result.violation->what;
  EXPECT_EQ(outcome.result.workloads[0].evicted, 0);
  EXPECT_EQ(outcome.result.workloads[1].evicted, 3);
  EXPECT_EQ(outcome.result.workloads[3].evicted, 0);
}

// "cut 10m0s-20m0s, degraded 20m0s-30m0s"
std::string links_of(const NodeResult& node) {
  std::string text;
  for (const Span& span : node.link) {
    text += (text.empty() ? "" : ", ") + span.state + " " + format_duration(span.begin) + "-" +
            format_duration(span.end);
  }
  return text;
}

// As Link::state() has it for real processes: a link that is cut and degraded is shown as cut, and
// `heal` ends both.
TEST(Sim, ALinkIsHealedCompletely) {
  const Action cut = Cut{.target = "a"};
  const Action heal = Heal{.target = "a"};
  const Action degrade = Degrade{.target = "a", .link = *named_profile("satellite")};
  const struct {
    std::vector<ScenarioEvent> events;
    std::string links;
  } rows[] = {{{{.at = minutes(10), .action = degrade}, {.at = minutes(20), .action = heal}},
               "degraded 10m0s-20m0s"},
              {{{.at = minutes(10), .action = degrade},
                {.at = minutes(20), .duration = minutes(5), .action = cut}},
               "degraded 10m0s-20m0s, cut 20m0s-25m0s, degraded 25m0s-2h0m0s"},
              {{{.at = minutes(10), .action = cut},
                {.at = minutes(20), .duration = minutes(5), .action = degrade},
                {.at = minutes(30), .action = heal}},
               "cut 10m0s-30m0s"},
              {{{.at = minutes(10), .duration = minutes(5), .action = degrade},
                {.at = minutes(12), .action = heal},
                {.at = minutes(14), .duration = minutes(6), .action = cut}},
               "degraded 10m0s-12m0s, cut 14m0s-20m0s"}};
  for (const auto& row : rows) {
    Scenario scenario = two_sites();
    scenario.events = row.events;
    const SimOutcome outcome = play(scenario);
    EXPECT_EQ(links_of(outcome.result.nodes[0]), row.links);
    EXPECT_EQ(links_of(outcome.result.nodes[3]), "") << "a node of the other site";
  }
}

// The nodes send most while they start.
TEST(Sim, RequestsPerSecondAreCountedFromTheFirstEventOn) {
  Scenario scenario = two_sites();
  const std::uint64_t of_all = play(scenario).result.requests_per_second;
  const auto counted_from = [&scenario](Duration first) {
    scenario.events = {{.at = first, .action = Uncordon{.target = "a-1"}}};
    return play(scenario).result.requests_per_second;
  };
  EXPECT_EQ(counted_from(seconds(0)), of_all);
  EXPECT_LT(counted_from(hours(1)), of_all / 2);
}

TEST(Sim, TheSameSeedGivesTheSameRun) {
  Scenario scenario = two_sites();
  scenario.events = {{.at = minutes(10), .duration = minutes(20), .action = Cut{.target = "a"}}};
  std::string trace;
  SimOptions options;
  options.trace = [&trace](std::string_view line) { trace += line; };
  const SimOutcome first = simulate(scenario, options);
  const std::string once = std::exchange(trace, {});
  const SimOutcome second = simulate(scenario, options);
  EXPECT_EQ(trace, once);
  EXPECT_EQ(first.digest, second.digest);
  EXPECT_EQ(first.result, second.result);
  options.seed = 2;
  EXPECT_NE(simulate(scenario, options).digest, first.digest);
}

TEST(Sim, RandomScenariosViolateNothing) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const SimOutcome outcome = play(random_scenario(seed), seed);
    ASSERT_FALSE(outcome.result.violation)
        << "seed " << seed << ": " << outcome.result.violation->invariant << ": "
        << outcome.result.violation->what;
  }
}

TEST(Sim, AScenarioShrinksToWhatMatters) {
  Scenario scenario = two_sites();
  scenario.events = {{.at = minutes(5), .action = Rollout{"web-a"}},
                     {.at = minutes(10), .duration = minutes(1), .action = Cut{.target = "b"}},
                     {.at = minutes(15), .duration = minutes(1), .action = PowerLoss{"a-1"}}};
  const Scenario smallest = shrink(scenario, [](const Scenario& candidate) {
    for (const ScenarioEvent& event : candidate.events) {
      if (std::holds_alternative<PowerLoss>(event.action)) return true;
    }
    return false;
  });
  ASSERT_EQ(smallest.events.size(), 1U);
  EXPECT_TRUE(std::holds_alternative<PowerLoss>(smallest.events[0].action));
  EXPECT_TRUE(smallest.workloads.empty());
}

}  // namespace
}  // namespace holdfast::agent::lab::sim
