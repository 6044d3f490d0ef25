// Runs with and without the heartbeats of quiet nodes give the same result and trace.

#include "agent/lab/sim/quiet.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "agent/lab/sim/sim_options.h"

namespace holdfast::agent::lab::sim {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

using Lines = std::vector<std::string>;

// Nodes of a site do not share the times of their events with other sites, and links have no
// jitter, so that nothing depends on how many messages were sent before.
Site quiet_site(const std::string& name, int number, NodeAgent agent) {
  LinkProfile link;
  link.name = "wire";
  link.up.latency = link.down.latency = milliseconds(3 + 2 * number);
  return {.name = name, .nodes = 3, .zone = name, .link = link, .agent = agent};
}

// Without plain nodes the controller has quiet times, too.
Scenario fleet(bool with_plain_nodes) {
  Scenario scenario;
  scenario.name = "quiet";
  scenario.duration = hours(10);
  scenario.sites = {quiet_site("a", 0, NodeAgent::holdfast),
                    quiet_site("b", 1, NodeAgent::holdfast)};
  if (with_plain_nodes) scenario.sites.push_back(quiet_site("c", 2, NodeAgent::none));
  scenario.sites[1].annotations["node.beta.openyurt.io/autonomy"] = "true";
  scenario.workloads = {
      {.name = "web", .replicas = 6, .min_available = 2},
      {.kind = WorkloadKind::stateful_set, .name = "db", .replicas = 2, .on = "a"},
      {.kind = WorkloadKind::daemon_set, .name = "log"},
      {.kind = WorkloadKind::job, .name = "sum", .replicas = 2, .run_time = minutes(40)}};
  return scenario;
}

struct Case {
  std::string name;
  std::vector<ScenarioEvent> events;
  bool with_plain_nodes = false;
};

std::vector<Case> cases() {
  const auto holdfast_edge = Process::edge;
  return {
      {"nothing", {}},
      {"site cut", {{.at = hours(3), .duration = hours(2), .action = Cut{"a"}}}},
      {"autonomous site cut, then the other",
       {{.at = hours(2), .duration = minutes(47), .action = Cut{"b"}},
        {.at = hours(6), .duration = minutes(9), .action = Cut{"a", Direction::up}}}},
      {"power and processes",
       {{.at = hours(1), .duration = minutes(20), .action = PowerLoss{"a-2"}},
        {.at = hours(4), .duration = minutes(3), .action = Kill{holdfast_edge, "b-1"}},
        {.at = hours(7), .duration = minutes(15), .action = Kill{Process::kubelet, "a-1"}}}},
      {"the cloud's side",
       {{.at = hours(2), .duration = minutes(30), .action = Kill{Process::cloud, ""}},
        {.at = hours(5), .duration = minutes(5), .action = ApiServerFault{ApiFault::unavailable}},
        {.at = hours(8), .duration = minutes(10), .action = Cut{"cloud"}}}},
      {"pods of quiet nodes",
       {{.at = hours(2), .action = Rollout{"web"}},
        {.at = hours(4), .action = Scale{"web", 9}},
        {.at = hours(6), .action = DeletePods{"log", ""}},
        {.at = hours(8), .action = Drain{"b-2"}}}},
      {"a wrong clock",
       {{.at = hours(2), .action = ClockStep{"a", -hours(5)}},
        {.at = hours(6), .duration = minutes(10), .action = Cut{"a-1"}}}},
      {"site cut, plain nodes", {{.at = hours(3), .duration = hours(2), .action = Cut{"a"}}}, true},
      {"the cloud's side, plain nodes",
       {{.at = hours(2), .duration = minutes(30), .action = Kill{Process::cloud, ""}},
        {.at = hours(8), .duration = minutes(10), .action = Cut{"cloud"}}},
       true},
  };
}

struct Played {
  Lines trace;  // sorted: the order of what happens at the same time may differ
  SimOutcome outcome;
};

Played play(const Case& one, bool skips) {
  Scenario scenario = fleet(one.with_plain_nodes);
  scenario.events = one.events;
  auto options = options_of(scenario, 7);
  EXPECT_TRUE(options) << options.error().what;
  options->own_random = true;
  options->skips_heartbeats = skips;
  Played played;
  options->trace = [&played](std::string_view line) { played.trace.emplace_back(line); };
  played.outcome = simulate(scenario, *options);
  std::sort(played.trace.begin(), played.trace.end());
  return played;
}

Lines spans_of(const RunResult& result) {
  Lines lines;
  const auto add = [&lines](const std::string& of, const std::vector<Span>& spans) {
    for (const Span& span : spans) {
      lines.push_back(of + " " + span.state + " " + format_duration(span.begin) + " to " +
                      format_duration(span.end));
    }
  };
  for (const NodeResult& node : result.nodes) {
    add(node.name + " ready", node.ready);
    add(node.name + " taints", node.taints);
    add(node.name + " withheld", node.withheld);
    add(node.name + " power", node.power);
  }
  for (const PodResult& pod : result.pods) {
    add(pod.name + " on " + pod.node + " restarts " + std::to_string(pod.restarts), pod.running);
  }
  for (const WorkloadResult& each : result.workloads) add(each.name, each.shortfall);
  return lines;
}

// The lines that only one of two sorted traces has. When the controller notices that the API server
// is away depends on when it was last answered, and so on the jitter of all messages before: these
// lines are compared without their times.
Lines differences(const Lines& one, const Lines& other) {
  const auto comparable = [](const Lines& lines) {
    Lines made;
    for (const std::string& line : lines) {
      const bool is_contact = line.find("holdfast-cloud evictions paused") != line.npos ||
                              line.find("holdfast-cloud API server reachable") != line.npos;
      made.push_back(is_contact ? line.substr(line.find(' ')) : line);
    }
    std::sort(made.begin(), made.end());
    return made;
  };
  const Lines first = comparable(one);
  const Lines second = comparable(other);
  Lines found;
  std::set_symmetric_difference(first.begin(), first.end(), second.begin(), second.end(),
                                std::back_inserter(found));
  return found;
}

TEST(SimQuiet, GivesTheSameTraceAndResult) {
  for (const Case& one : cases()) {
    SCOPED_TRACE(one.name);
    const Played all = play(one, false);
    const Played skipped = play(one, true);
    EXPECT_EQ(differences(skipped.trace, all.trace), Lines());
    EXPECT_EQ(spans_of(skipped.outcome.result), spans_of(all.outcome.result));
    EXPECT_FALSE(all.outcome.result.violation) << all.outcome.result.violation->what;
    EXPECT_EQ(all.outcome.skipped_heartbeats, 0U);
    // Six nodes have an agent, and 10 h are 3,600 renewals of each.
    EXPECT_GT(skipped.outcome.skipped_heartbeats, 6U * 3600 * 6 / 10);
    EXPECT_LT(skipped.outcome.result.events, all.outcome.result.events * 7 / 10);
  }
}

TEST(SimQuietRhythm, GoesOnInRhythm) {
  const MonoTime due{seconds(100)};
  EXPECT_EQ(next_in_rhythm(due, seconds(10), MonoTime(seconds(95))), due);
  EXPECT_EQ(next_in_rhythm(due, seconds(10), due), due);
  EXPECT_EQ(next_in_rhythm(due, seconds(10), MonoTime(milliseconds(100'001))),
            MonoTime(seconds(110)));
  EXPECT_EQ(next_in_rhythm(due, seconds(10), MonoTime(seconds(130))), MonoTime(seconds(130)));
}

}  // namespace
}  // namespace holdfast::agent::lab::sim
