// What a cluster of real processes refuses to play.

#include "agent/lab/cluster/refusal.h"

namespace holdfast::agent::lab::cluster {
namespace {

using namespace std::chrono_literals;

TEST(LabRefusal, NamesLinesAndSim) {
  Scenario scenario;
  scenario.events = {
      {.at = 1min, .duration = {}, .action = Cut{.target = "a"}, .line = 7},
      {.at = 2min, .duration = {}, .action = ClockStep{.target = "a-1", .by = 1h}, .line = 8},
      {.at = 3min, .duration = {}, .action = DiskFull{.target = "b"}, .line = 9},
      {.at = 4min, .duration = {}, .action = ApiServerFault{ApiFault::gone}, .line = 0}};
  const Status checked = check_events(scenario, "site.yaml");
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, Errc::invalid);
  EXPECT_EQ(
      checked.error().what,
      "site.yaml:8: a-1: clock stepped by 1h0m0s: only `sim` plays this; all processes of this "
      "machine have the same clock\n"
      "site.yaml:9: b: disk full: only `sim` plays this; all nodes share this machine's "
      "disk\n"
      "site.yaml: API server: watches end with 410: only `sim` plays this; a real API server "
      "can only be stopped");
}

TEST(LabRefusal, ListsTenAndCountsTheRest) {
  Scenario scenario;
  for (int line = 1; line <= 12; ++line) {
    scenario.events.push_back({.at = 1s, .duration = {}, .action = DiskFull{"a"}, .line = line});
  }
  const Status checked = check_events(scenario, "s.yaml");
  ASSERT_FALSE(checked);
  EXPECT_TRUE(checked.error().what.ends_with("disk\nand 2 more")) << checked.error().what;
}

TEST(LabRefusal, PlaysWhatProcessesCanDo) {
  Scenario scenario;
  for (const Action& action : std::initializer_list<Action>{
           Cut{}, Heal{}, Flap{}, Degrade{}, PowerLoss{}, Kill{}, Pause{}, Drain{}, Uncordon{},
           Rollout{}, Scale{}, DeletePods{}, ApiServerFault{ApiFault::unavailable}}) {
    scenario.events.push_back({.at = 1s, .duration = {}, .action = action, .line = 1});
  }
  EXPECT_TRUE(check_events(scenario, "s.yaml"));
}

}  // namespace
}  // namespace holdfast::agent::lab::cluster
