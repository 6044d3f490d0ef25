// --set: what it changes, and the errors.

#include "agent/lab/scenario/override.h"

#include <gtest/gtest.h>

#include "test/unit/agent/lab/scenario/scenario_text.h"

namespace holdfast::agent::lab {
namespace {

using namespace std::chrono_literals;

TEST(ScenarioOverride, ChangesAndAddsValues) {
  const auto scenario = parse_text(
      with_base("events: [{at: 1m, cut: a, for: 5m}]\ncloud: {node-eviction-rate: 0.2}\n"),
      {"duration=2h", "seed=7", "fleet.sites.a.nodes=40", "fleet.sites[1].link=4g",
       "workloads.web.replicas=3", "workloads[1].grace=5s", "events[0].for=90m",
       "cloud.node-monitor-grace-period=90s", "edge.cache-agents=[kubelet, flanneld]",
       "fleet.sites.a.labels.\"example.com/role\"=cell"});
  ASSERT_TRUE(scenario) << scenario.error().what;
  EXPECT_EQ(scenario->duration, 2h);
  EXPECT_EQ(scenario->seed, 7U);
  EXPECT_EQ(scenario->sites[0].nodes, 40);
  EXPECT_EQ(scenario->sites[1].link.name, "4g");
  EXPECT_EQ(scenario->workloads[0].replicas, 3);
  EXPECT_EQ(scenario->workloads[1].grace, 5s);
  EXPECT_EQ(scenario->events[0].duration, Duration(90min));
  const std::map<std::string, std::string> cloud = {{"node-eviction-rate", "0.2"},
                                                    {"node-monitor-grace-period", "90s"}};
  EXPECT_EQ(scenario->cloud, cloud);
  const std::map<std::string, std::string> edge = {{"cache-agents", "kubelet,flanneld"}};
  EXPECT_EQ(scenario->edge, edge);
  const std::map<std::string, std::string> labels = {{"example.com/role", "cell"}};
  EXPECT_EQ(scenario->sites[0].labels, labels);
}

TEST(ScenarioOverride, TheLaterOneWins) {
  const auto scenario = parse_text(with_base(""), {"seed=7", "seed=8"});
  ASSERT_TRUE(scenario) << scenario.error().what;
  EXPECT_EQ(scenario->seed, 8U);
}

struct BadOverride {
  std::string text;
  std::string error;
};

TEST(ScenarioOverride, MistakesAreExplained) {
  const BadOverride all[] = {
      {"duration=soon",
       "--set duration=soon: duration: not a duration like 47m or 1h30m: \"soon\""},
      {"durations=2h", "--set durations=2h: durations: unknown key; did you mean \"duration\"?"},
      {"duration", "--set duration: expected KEY=VALUE"},
      {"=5", "--set =5: a key is empty"},
      {"fleet..sites=5", "--set fleet..sites=5: a key is empty"},
      {"fleet.sites.c.nodes=5", "--set fleet.sites.c.nodes=5: fleet.sites: has no entry \"c\""},
      {"workloads.wb.replicas=5",
       "--set workloads.wb.replicas=5: workloads: has no entry \"wb\"; did you mean \"web\"?"},
      {"fleet.sites[x].nodes=5", "--set fleet.sites[x].nodes=5: expected a number in brackets"},
      {"fleet.sites[7].nodes=5",
       "--set fleet.sites[7].nodes=5: fleet.sites: has no entry [7]: it has 2"},
      {"fleet[0]=5", "--set fleet[0]=5: fleet: is not a list"},
      {"duration.of=5", "--set duration.of=5: duration: is not a map"},
      {"fleet.sites.a.nods=5",
       "--set fleet.sites.a.nods=5: fleet.sites[0].nods: unknown key; did you mean \"nodes\"?"},
      {"fleet.sites.a.nodes=",
       "--set fleet.sites.a.nodes=: fleet.sites[0].nodes: expected a whole number, not nothing"},
      {"fleet.sites.a.nodes=[", "--set fleet.sites.a.nodes=[: a key must be a word"},
      {"cloud.node-monitor-grace-periode=90s",
       "--set cloud.node-monitor-grace-periode=90s: cloud.node-monitor-grace-periode: unknown flag "
       "of holdfast-cloud; did you mean \"node-monitor-grace-period\"?"},
      {"cloud.\"a=90s", "--set cloud.\"a=90s: a quote is not closed"},
      {"a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a=1",
       "--set a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a=1: the path is too long"},
      {"a\nb=1",
       "--set a\\x0ab=1: \"a\\x0ab\": unknown key; known are name, about, duration, seed, fleet, "
       "workloads, manifests, cloud, edge, events and expect"},
  };
  for (const auto& [text, error] : all) EXPECT_EQ(error_of(with_base(""), {text}), error) << text;
}

}  // namespace
}  // namespace holdfast::agent::lab
