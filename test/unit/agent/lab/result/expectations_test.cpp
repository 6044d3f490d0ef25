// check_expectations(): what is measured, whether a bound is met, and what is printed.

#include "agent/lab/result/expectations.h"

#include "test/unit/agent/lab/scenario/scenario_text.h"

namespace holdfast::agent::lab {
namespace {

using namespace std::chrono_literals;

constexpr Duration ten = 10min;
constexpr const char* cut_at_10m = "{at: 10m, cut: a, for: 30m}";

// Site a has two nodes with pods of deployment/web, and loses contact; site b has one with a pod of
// statefulset/db, which restarts twice.
RunResult measured() {
  RunResult result;
  result.duration = 1h;
  result.requests_per_second = 40;
  result.duplicates = 1;
  result.nodes = {{.name = "a-1",
                   .site = "a",
                   .ready = {{0s, ten, "True"}, {ten, 1h, "Unknown"}},
                   .bytes = 700},
                  {.name = "a-2",
                   .site = "a",
                   .ready = {{0s, 15min, "True"}, {15min, 1h, "False"}},
                   .bytes = 800},
                  {.name = "b-1", .site = "b", .ready = {{0s, 1h, "True"}}, .bytes = 1000}};
  result.pods = {{.name = "default/web-1",
                  .workload = "deployment/web",
                  .node = "a-1",
                  .site = "a",
                  .evicted = 16min,
                  .running = {{2s, 1h, "ready"}}},
                 {.name = "default/web-2",
                  .workload = "deployment/web",
                  .node = "a-2",
                  .site = "a",
                  .evicted = 21min,
                  .running = {{2s, 1h, "ready"}}},
                 {.name = "default/db-0",
                  .workload = "statefulset/db",
                  .node = "b-1",
                  .site = "b",
                  .restarts = 2,
                  .running = {{0s, 2s, "starting"},
                              {2s, 12min, "ready"},
                              {12min, 722s, "starting"},
                              {722s, 40min, "ready"},
                              {41min, 41min + 2s, "starting"},
                              {41min + 2s, 1h, "ready"}}}};
  result.workloads = {
      {.name = "deployment/web",
       .unavailable = 90s,
       .shortfall = {{16min, 16min + 30s, "1"}, {21min, 22min, "2"}}},
      {.name = "statefulset/db", .unavailable = 1500ms, .shortfall = {{12min, 722s, "1"}}}};
  return result;
}

// The results of a scenario with these lists of events and expectations, a line for each.
std::string checked(const std::string& events, const std::string& expectations,
                    const RunResult& result) {
  const auto scenario = parse_text(
      "name: x\nduration: 1h\nfleet: {sites: [{name: a, nodes: 2}, {name: b}]}\n"
      "workloads: [{deployment: web}, {statefulset: db}]\nevents: [" +
      events + "]\nexpect: [" + expectations + "]\n");
  if (!scenario) return scenario.error().what;
  std::string text;
  for (const ExpectationResult& each : check_expectations(*scenario, result)) {
    text += std::string(each.met ? "met" : "NOT MET") + " " + each.text + " | " + each.found + "\n";
  }
  return text;
}

TEST(Expectations, CompareWhatWasMeasuredWithTheirBounds) {
  const std::string restarts = " | 2 restarts: default/db-0 at 12m, default/db-0 at 41m\n";
  const std::string evictions = " | 2 evictions: default/web-1 at 16m, default/web-2 at 21m\n";
  const std::string web = " | 90 s unavailable: deployment/web at 16m, deployment/web at 21m\n";
  const struct {
    std::string expectation;
    std::string result;
  } rows[] = {
      {"{restarts: 2}", "met restarts: 2" + restarts},
      {"{restarts: 1}", "NOT MET restarts: 1" + restarts},
      {"{restarts: 3, of: db}", "NOT MET restarts of db: 3" + restarts},
      {"{restarts: 0, of: a}", "met restarts of a: 0 | 0 restarts\n"},
      {"{restarts, of: b-1, at-least: 1, at-most: 2}",
       "met restarts of b-1: at least 1, at most 2" + restarts},
      {"{restarts, at-least: 3}", "NOT MET restarts: at least 3" + restarts},
      {"{restarts, at-most: 1}", "NOT MET restarts: at most 1" + restarts},
      {"{evictions: 2, of: web}", "met evictions of web: 2" + evictions},
      {"{evictions, at-most: 1}", "NOT MET evictions: at most 1" + evictions},
      {"{evictions, of: a-2, at-least: 2}",
       "NOT MET evictions of a-2: at least 2 | 1 eviction: default/web-2 at 21m\n"},
      {"{unavailable, of: web, at-most: 90s}", "met unavailable of web: at most 90s" + web},
      {"{unavailable, of: web, at-most: 1m}", "NOT MET unavailable of web: at most 1m" + web},
      {"{unavailable, of: db, at-least: 2s}",
       "NOT MET unavailable of db: at least 2s | 1.5 s unavailable: statefulset/db at "
       "12m\n"},
      {"{requests-per-second, at-most: 40}",
       "met requests-per-second: at most 40 | 40 requests/s\n"},
      {"{requests-per-second, at-most: 39.5}",
       "NOT MET requests-per-second: at most 39.5 | 40 requests/s\n"},
      {"{bytes, of: a, at-most: 1500B}", "met bytes of a: at most 1500B | 1500 bytes\n"},
      {"{bytes, at-most: 2KiB}", "NOT MET bytes: at most 2KiB | 2500 bytes\n"},
      {"{bytes, of: b-1, at-least: 1KiB}", "NOT MET bytes of b-1: at least 1KiB | 1000 bytes\n"},
      {"{not-ready: 2}", "met not-ready: 2 | 2 nodes not ready: a-1 at 10m, a-2 at 15m\n"},
      {"{not-ready: 0, of: b}", "met not-ready of b: 0 | 0 nodes not ready\n"},
      {"{not-ready, of: a-1, at-most: 0}",
       "NOT MET not-ready of a-1: at most 0 | 1 node not ready: a-1 at 10m\n"},
      {"{duplicates: 1}", "met duplicates: 1 | 1 duplicate\n"},
      {"{duplicates: 0, of: db}", "NOT MET duplicates of db: 0 | 1 duplicate\n"}};
  for (const auto& row : rows) {
    EXPECT_EQ(checked(cut_at_10m, row.expectation, measured()), row.result) << row.expectation;
  }
}

// `within` counts from the first event, of whatever kind, or from the start if there is none.
TEST(Expectations, AtLeastIsReachedWithinATimeOfTheFirstEvent) {
  const std::string restarts = " | 2 restarts: default/db-0 at 12m, default/db-0 at 41m\n";
  const std::string evictions = " | 2 evictions: default/web-1 at 16m, default/web-2 at 21m\n";
  const std::string nodes = " | 2 nodes not ready: a-1 at 10m, a-2 at 15m\n";
  const std::string drain_at_5m = "{at: 5m, drain: b}, " + std::string(cut_at_10m);
  const struct {
    std::string events;
    std::string expectation;
    std::string result;
  } rows[] = {{cut_at_10m, "{evictions, at-least: 1, within: 6m}",
               "met evictions: at least 1 within 6m" + evictions},
              {cut_at_10m, "{evictions, at-least: 2, within: 6m}",
               "NOT MET evictions: at least 2 within 6m" + evictions},
              {cut_at_10m, "{evictions, at-least: 1, within: 11m, at-most: 1}",
               "NOT MET evictions: at least 1 within 11m, at most 1" + evictions},
              {cut_at_10m, "{not-ready, at-least: 2, within: 5m}",
               "met not-ready: at least 2 within 5m" + nodes},
              {cut_at_10m, "{restarts, at-least: 1, within: 2m}",
               "met restarts: at least 1 within 2m" + restarts},
              {cut_at_10m, "{restarts, at-least: 2, within: 30m}",
               "NOT MET restarts: at least 2 within 30m" + restarts},
              {drain_at_5m, "{not-ready, at-least: 2, within: 5m}",
               "NOT MET not-ready: at least 2 within 5m" + nodes},
              {drain_at_5m, "{not-ready, at-least: 2, within: 10m}",
               "met not-ready: at least 2 within 10m" + nodes},
              {"", "{not-ready, at-least: 2, within: 14m}",
               "NOT MET not-ready: at least 2 within 14m" + nodes},
              {"", "{not-ready, at-least: 2, within: 15m}",
               "met not-ready: at least 2 within 15m" + nodes}};
  for (const auto& row : rows) {
    EXPECT_EQ(checked(row.events, row.expectation, measured()), row.result)
        << row.events << row.expectation;
  }
}

TEST(Expectations, RestartsAreAtTheTimesAtWhichContainersStartedAgain) {
  const struct {
    int restarts;
    std::vector<Span> running;
    std::string found;
  } rows[] = {
      {1, {{1s, 10s, "ready"}, {20s, 1h, "ready"}}, "1 restart: p at 20s"},
      {2,
       {{1s, 10s, "ready"}, {20s, 30s, "ready"}, {40s, 1h, "ready"}},
       "2 restarts: p at 20s, p at 40s"},
      // The second of two containers, or a restart that was not seen as a gap.
      {2, {{1s, 10s, "ready"}, {20s, 1h, "ready"}}, "2 restarts: p at 20s, p at 20s"},
      // The first start of a container that failed at once was not seen.
      {1, {{5s, 1h, "ready"}}, "1 restart: p at 5s"},
      {1, {}, "1 restart: p at 3s"},
      {1,
       {{1s, 2s, "starting"}, {2s, 10s, "ready"}, {10s, 20s, "stopping"}, {20s, 1h, "starting"}},
       "1 restart: p at 20s"},
      {4,
       {{1s, 10s, "ready"},
        {20s, 30s, "ready"},
        {40s, 50s, "ready"},
        {60s, 70s, "ready"},
        {80s, 1h, "ready"}},
       "4 restarts: p at 20s, p at 40s, p at 1m, ..."}};
  for (const auto& row : rows) {
    RunResult result;
    result.pods = {{.name = "p", .created = 3s, .restarts = row.restarts, .running = row.running}};
    EXPECT_EQ(checked("", "{restarts, at-most: 9}", result),
              "met restarts: at most 9 | " + row.found + "\n");
  }
}

}  // namespace
}  // namespace holdfast::agent::lab
