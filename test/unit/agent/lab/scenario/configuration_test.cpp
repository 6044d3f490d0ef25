// What the flags of a scenario mean for the rules.

#include "agent/lab/scenario/configuration.h"

#include <gtest/gtest.h>

#include "test/unit/agent/lab/scenario/scenario_text.h"

namespace holdfast::agent::lab {
namespace {

using namespace std::chrono_literals;

TEST(ScenarioConfiguration, IsThatOfThePrograms) {
  const auto scenario =
      parse_text(with_base("cloud:\n"
                           "  node-monitor-grace-period: 90s\n"
                           "  autonomy-mode: openyurt\n"
                           "  controllers: [\"*\", scheduler]\n"
                           "  feature-gates: TaintTolerationComparisonOperators=true\n"
                           "edge: {probe-deadline: 3s, cache-agents: \"*\"}\n"));
  ASSERT_TRUE(scenario) << scenario.error().what;
  const auto configuration = configuration_of(*scenario);
  ASSERT_TRUE(configuration) << configuration.error().what;
  EXPECT_EQ(configuration->rules.monitor_grace, 90s);
  EXPECT_EQ(configuration->rules.autonomy, sync::lifecycle::AutonomyMode::openyurt);
  EXPECT_TRUE(configuration->rules.comparison_tolerations);
  EXPECT_TRUE(configuration->controllers.pod_binding);
  EXPECT_TRUE(configuration->has_scheduler);
  EXPECT_EQ(configuration->edge.probe_deadline, 3s);
  EXPECT_EQ(configuration->edge.cache_agents, std::vector<std::string>{"*"});
}

TEST(ScenarioConfiguration, DefaultsAreThoseOfThePrograms) {
  const auto configuration = configuration_of(Scenario{});
  ASSERT_TRUE(configuration) << configuration.error().what;
  EXPECT_EQ(configuration->rules.monitor_grace, sync::lifecycle::Options().monitor_grace);
  EXPECT_TRUE(configuration->controllers.taint_eviction);
  EXPECT_FALSE(configuration->controllers.pod_binding);
  EXPECT_FALSE(configuration->has_scheduler);
}

TEST(ScenarioConfiguration, ErrorsNameTheFlag) {
  Scenario scenario;
  scenario.edge["probe-deadline"] = "soon";
  const auto configuration = configuration_of(scenario);
  ASSERT_FALSE(configuration);
  EXPECT_EQ(configuration.error().what, "edge: --probe-deadline: not a duration: \"soon\"");
}

// The scheduler's configuration is a file beside the scenario.
TEST(ScenarioConfiguration, TheSchedulersFileIsFoundBesideTheScenario) {
  const auto scenario =
      parse_text(with_base("cloud: {scheduler-config: s.yaml}\n"), {}, {{"s.yaml", "kind: x\n"}});
  ASSERT_TRUE(scenario) << scenario.error().what;
  EXPECT_EQ(scenario->cloud.at("scheduler-config"), "/beside/s.yaml");
  EXPECT_EQ(error_of(with_base("cloud: {scheduler-config: t.yaml}\n")),
            "s.yaml:5:27: cloud.scheduler-config: there is no file \"t.yaml\"");
}

}  // namespace
}  // namespace holdfast::agent::lab
