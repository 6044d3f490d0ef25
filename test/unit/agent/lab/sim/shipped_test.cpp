// The shipped scenarios in the simulator: what they expect holds.

#include <gtest/gtest.h>

#include <string>

#include "agent/lab/result/expectations.h"
#include "agent/lab/scenario/scenario_file.h"
#include "agent/lab/sim/sim_options.h"

namespace holdfast::agent::lab::sim {
namespace {

class Shipped : public ::testing::TestWithParam<std::string> {};

TEST_P(Shipped, HoldsInTheSimulator) {
  const auto scenario =
      read_scenario(std::string(HOLDFAST_SOURCE_ROOT) + "/test/scenarios/" + GetParam() + ".yaml");
  ASSERT_TRUE(scenario) << scenario.error().what;
  const auto options = options_of(*scenario, scenario->seed);
  ASSERT_TRUE(options) << options.error().what;
  const SimOutcome outcome = simulate(*scenario, *options);
  EXPECT_FALSE(outcome.result.violation)
      << outcome.result.violation->invariant << ": " << outcome.result.violation->what;
  EXPECT_FALSE(scenario->expectations.empty());
  for (const ExpectationResult& each : check_expectations(*scenario, outcome.result)) {
    EXPECT_TRUE(each.met) << each.text << ": " << each.found;
  }
}

// The small ones: apiserver-restart, long-outage, site-outage and thundering-herd take minutes.
INSTANTIATE_TEST_SUITE_P(
    Sim, Shipped,
    ::testing::Values("agent-restart-offline", "agent-upgrade", "apiserver-pause",
                      "cloud-side-outage", "crash-or-outage", "demo", "drain-during-outage",
                      "every-action", "flapping-link", "full-flash", "impatient-pods",
                      "job-on-a-boat", "metered-4g", "no-clock", "no-pile-of-terminating",
                      "off-for-a-day", "partial-zone", "per-workload-choice", "power-cuts",
                      "power-loss-offline", "recorded-link", "return-keeps-pods",
                      "rollout-during-outage", "statefulset-fencing", "unreachable-is-not-dead"));

}  // namespace
}  // namespace holdfast::agent::lab::sim
