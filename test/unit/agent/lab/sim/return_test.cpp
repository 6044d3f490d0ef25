// How many requests arrive at an API server that was away, when all agents return.

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "agent/lab/scenario/scenario_file.h"
#include "agent/lab/sim/sim_options.h"

namespace holdfast::agent::lab::sim {
namespace {

constexpr int returning_nodes = 400;

std::uint64_t count_of(const RunResult& result, std::string_view name) {
  for (const RequestClass& each : result.requests) {
    if (each.name == name) return each.requests;
  }
  return 0;
}

// The sum of the values from one second of the scenario to another.
double sum(const Series& series, std::size_t from, std::size_t to) {
  const auto at = [&series](std::size_t second) {
    return series.values.begin() +
           static_cast<std::ptrdiff_t>(std::min(second, series.values.size()));
  };
  return std::accumulate(at(from), at(to), 0.0);
}

// The shipped scenario with fewer nodes. The API server is down from second 360 to second 420.
TEST(SimReturn, OfAllAgentsAfterARestartHasOnePeakAndOneListForEachScope) {
  auto scenario =
      read_scenario(std::string(HOLDFAST_SOURCE_ROOT) + "/test/scenarios/apiserver-restart.yaml");
  ASSERT_TRUE(scenario) << scenario.error().what;
  ASSERT_EQ(scenario->sites.size(), 1U);
  scenario->sites.front().nodes = returning_nodes;
  const auto options = options_of(*scenario, scenario->seed);
  ASSERT_TRUE(options) << options.error().what;
  const RunResult result = simulate(*scenario, *options).result;
  ASSERT_FALSE(result.violation) << result.violation->what;

  // The Node and the pods, at the start and after the restart.
  EXPECT_EQ(count_of(result, "list"), returning_nodes * 4U);
  ASSERT_FALSE(result.series.empty());
  const Series& requests = result.series.front();
  ASSERT_EQ(requests.name, "requests");
  ASSERT_EQ(requests.interval, std::chrono::seconds(1));
  EXPECT_EQ(sum(requests, 361, 420), 0) << "what does not arrive is not counted";

  // In steps of five seconds, in which half of the leases are renewed.
  const double renewals = returning_nodes / 2.0;
  double highest = 0;
  bool has_fallen = false;
  for (std::size_t second = 420; second < 540; second += 5) {
    const double now = sum(requests, second, second + 5);
    EXPECT_TRUE(!has_fallen || now < 1.5 * renewals) << "a second peak at second " << second;
    highest = std::max(highest, now);
    has_fallen = has_fallen || now < highest / 3;
  }
  EXPECT_TRUE(has_fallen);
  EXPECT_LT(highest, 7 * renewals);
  EXPECT_LT(sum(requests, 470, 475), 1.5 * renewals) << "all have returned after 50 seconds";
}

}  // namespace
}  // namespace holdfast::agent::lab::sim
