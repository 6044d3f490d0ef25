// Playing faster: what is scaled, and what makes a speed impossible.

#include "agent/lab/run/speed.h"

#include "agent/lab/scenario/scenario_file.h"

namespace holdfast::agent::lab::run {
namespace {

using namespace std::chrono_literals;

Scenario scenario_of(const std::string& more) {
  const auto nothing = [](const std::string&) -> Result<FileBeside> {
    return fail(Errc::not_found, "no file");
  };
  auto read = parse_scenario("s.yaml",
                             "name: s\nduration: 90m\nfleet:\n  sites:\n"
                             "  - {name: a, nodes: 2, link: {latency: 100ms, rate: 8kbit/s}}\n" +
                                 more,
                             {}, nothing);
  EXPECT_TRUE(read) << (read ? "" : read.error().what);
  return read ? *std::move(read) : Scenario{};
}

std::string text_of(const cluster::Flags& flags) {
  std::string text;
  for (const std::string& each : cluster::as_arguments(flags)) text += each + "\n";
  return text;
}

TEST(LabSpeed, OnePlaysTheFlagsAsTheyAre) {
  const auto fast = at_speed(scenario_of("edge: {rejoin-jitter: 30s, scopes-max: 9}\n"), 1);
  ASSERT_TRUE(fast) << fast.error().what;
  EXPECT_EQ(fast->scenario.duration, 90min);
  EXPECT_EQ(fast->default_toleration, 300);
  EXPECT_EQ(text_of(fast->edge),
            "--scopes-max=9\n--lease-renew-interval=10000ms\n--lease-duration=40000ms\n"
            "--read-deadline=2000ms\n--write-deadline=10000ms\n--probe-deadline=1000ms\n"
            "--probe-backoff-min=1000ms\n--probe-backoff-max=30000ms\n--rejoin-jitter=30000ms\n"
            "--flush-interval=2000ms\n--kubelet-grace=40000ms\n--bookmark-interval=60000ms\n");
}

TEST(LabSpeed, DividesTimesAndMultipliesRates) {
  const auto fast = at_speed(
      scenario_of("workloads:\n- deployment: web\n  grace: 30s\n  stop: 5s\n  tolerations:\n"
                  "  - {key: node.kubernetes.io/unreachable, effect: NoExecute, seconds: 60}\n"
                  "events:\n- {at: 10m, cut: a, for: 47m}\n"
                  "- {at: 60m, flap: a, up: 10s, down: 20s, for: 10m}\n"
                  "cloud: {node-eviction-rate: 0.5}\n"),
      20);
  ASSERT_TRUE(fast) << fast.error().what;
  const Scenario& scaled = fast->scenario;
  EXPECT_EQ(scaled.duration, 270s);
  EXPECT_EQ(scaled.sites[0].link.up, (LinkQuality{.latency = 5ms, .rate = 20'000}));
  EXPECT_EQ(scaled.workloads[0].grace, 1500ms);
  EXPECT_EQ(scaled.workloads[0].stop, 250ms);
  EXPECT_EQ(scaled.workloads[0].tolerations[0].seconds, 3);
  EXPECT_EQ(scaled.events[0].at, 30s);
  EXPECT_EQ(scaled.events[0].duration, 141s);
  EXPECT_EQ(std::get<Flap>(scaled.events[1].action).up, 500ms);
  EXPECT_EQ(std::get<Flap>(scaled.events[1].action).down, 1s);
  EXPECT_EQ(fast->default_toleration, 15);
  EXPECT_EQ(text_of(fast->cloud),
            "--node-monitor-period=250ms\n--node-monitor-grace-period=2500ms\n"
            "--node-startup-grace-period=3000ms\n--node-lease-duration=2000ms\n"
            "--pod-eviction-timeout=15000ms\n--eviction-deadline=30000ms\n"
            "--node-eviction-rate=10.000000\n--secondary-node-eviction-rate=0.200000\n"
            "--leader-elect=false\n");
  EXPECT_EQ(text_of(fast->edge),
            "--lease-renew-interval=500ms\n--lease-duration=2000ms\n--read-deadline=250ms\n"
            "--write-deadline=500ms\n--probe-deadline=250ms\n--probe-backoff-min=50ms\n"
            "--probe-backoff-max=1500ms\n--rejoin-jitter=150ms\n--flush-interval=100ms\n"
            "--kubelet-grace=2000ms\n--bookmark-interval=3000ms\n")
      << "deadlines of requests stay at 250ms";
  EXPECT_EQ(text_of(fast->node),
            "--status-interval=500ms\n--lease-duration=2000ms\n--lease-renew-interval=500ms\n"
            "--restart-backoff=500ms\n--restart-backoff-max=15000ms\n"
            "--restart-backoff-reset=30000ms\n");
}

// Seconds of Kubernetes stay at least one, so that nothing becomes immediate that was not.
TEST(LabSpeed, AGracePeriodAndTheDefaultTolerationAreAtLeastOneSecond) {
  const std::string slow =
      "edge: {lease-duration: 20m, lease-renew-interval: 5m}\n"
      "cloud: {node-monitor-period: 1m, node-monitor-grace-period: 30m}\n"
      "workloads:\n- {deployment: web, grace: 30s}\n- {deployment: long, grace: 1h}\n"
      "- {deployment: now, grace: 0s}\n";
  const auto fast = at_speed(scenario_of(slow), 700);
  ASSERT_TRUE(fast) << fast.error().what;
  EXPECT_EQ(fast->default_toleration, 1);
  EXPECT_EQ(fast->scenario.workloads.at(0).grace, 1s);
  EXPECT_EQ(fast->scenario.workloads.at(1).grace, Duration(1h) / 700);
  EXPECT_EQ(fast->scenario.workloads.at(2).grace, 0s);
}

TEST(LabSpeed, NamesTheLargestPossibleSpeed) {
  struct Case {
    std::string more;
    int speed;
    std::string error;
  };
  const std::vector<Case> cases = {
      {"", 0, "--speed must be from 1 to 1000"},
      {"", -3, "--speed must be from 1 to 1000"},
      {"", 1001, "--speed must be from 1 to 1000"},
      {"", 50,
       "--speed 50 makes holdfast-edge --lease-duration (40s) shorter than 1s; the largest "
       "speed for it is 40"},
      {"", 60,
       "--speed 60 makes holdfast-cloud --node-monitor-grace-period (50s) shorter than 1s; "
       "the largest speed for it is 50"},
      {"cloud: {node-monitor-period: 1s}\n", 21,
       "--speed 21 makes holdfast-cloud --node-monitor-period (1s) shorter than 50ms; the largest "
       "speed for it is 20"},
      {"edge: {lease-renew-interval: 2s}\n", 11,
       "--speed 11 makes holdfast-edge --lease-renew-interval (2s) shorter than 200ms; the largest "
       "speed for it is 10"},
      {"workloads:\n- deployment: web\n  tolerations:\n"
       "  - {key: node.kubernetes.io/unreachable, effect: NoExecute, seconds: 12}\n",
       20,
       "--speed 20 makes a toleration of web (12s) shorter than 1s; the largest speed for it is "
       "12"}};
  for (const Case& each : cases) {
    const auto fast = at_speed(scenario_of(each.more), each.speed);
    ASSERT_FALSE(fast) << each.error;
    EXPECT_EQ(fast.error().what, each.error);
  }
}

}  // namespace
}  // namespace holdfast::agent::lab::run
