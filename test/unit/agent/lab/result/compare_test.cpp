// What differs between two results.

#include "agent/lab/result/compare.h"

#include "test/support/fleet_result.h"

namespace holdfast::agent::lab {
namespace {

RunResult patient() {
  RunResult result = test::fleet_result({});
  result.settings["cloud.node-monitor-grace-period"] = "90s";
  for (PodResult& pod : result.pods) pod.evicted.reset();
  result.workloads[0].evicted = 0;
  result.workloads[0].unavailable = std::chrono::seconds(125);
  result.requests[2].requests = 0;
  result.requests[2].bytes = 0;
  result.expectations[0].met = true;
  return result;
}

TEST(CompareResults, NamesTheColumnsAfterTheOnlySettingThatDiffers) {
  EXPECT_EQ(comparison_table(compare(test::fleet_result({}), patient())),
            R"(cloud.node-monitor-grace-period: 40s against 90s

40s: 1 of 2 expectations not met; site-1: 2 evicted; site-2: 1 restart
90s: site-1: 0 restarts; site-2: 1 restart

WHAT                             40s      90s    CHANGE
total           evicted            2        0        -2
total           restarted          1        1         =
total           unavailable     3m5s     2m5s       -1m
total           requests        4326     4320        -6
total           bytes        1.7 MiB  1.6 MiB  -5.3 KiB
deployment/web  evicted            2        0        -2
deployment/web  unavailable     3m5s     2m5s       -1m
taint           requests           6        0        -6
taint           bytes        5.3 KiB      0 B  -5.3 KiB
met only with 90s: no pod of site-2 restarts
)");
}

TEST(CompareResults, AsJson) {
  EXPECT_EQ(
      comparison_json(compare(test::fleet_result({}), patient())),
      R"({"kind":"RunComparison","version":1,"a":{"title":"40s","headline":"1 of 2 expectatio)"
      R"(ns not met; site-1: 2 evicted; site-2: 1 restart"},"b":{"title":"90s","headline":"si)"
      R"(te-1: 0 restarts; site-2: 1 restart"},"settings":[{"name":"cloud.node-monitor-grace-)"
      R"(period","a":"40s","b":"90s"}],"figures":[{"subject":"total","measure":"evicted","uni)"
      R"(t":"count","a":2,"b":0},{"subject":"total","measure":"restarted","unit":"count","a":)"
      R"(1,"b":1},{"subject":"total","measure":"unavailable","unit":"seconds","a":185,"b":125)"
      R"(},{"subject":"total","measure":"requests","unit":"count","a":4326,"b":4320},{"subjec)"
      R"(t":"total","measure":"bytes","unit":"bytes","a":1733400,"b":1728000},{"subject":"dep)"
      R"(loyment/web","measure":"evicted","unit":"count","a":2,"b":0},{"subject":"deployment/)"
      R"(web","measure":"unavailable","unit":"seconds","a":185,"b":125},{"subject":"taint","m)"
      R"(easure":"requests","unit":"count","a":6,"b":0},{"subject":"taint","measure":"bytes",)"
      R"("unit":"bytes","a":5400,"b":0}],"expectations":[{"text":"no pod of site-2 restarts",)"
      R"("a":false,"b":true}],"sameWorkloads":0})"
      "\n");
}

TEST(CompareResults, EqualOnesHaveOnlyTotals) {
  EXPECT_EQ(comparison_table(compare(patient(), patient())), R"(no setting differs

A: site-1: 0 restarts; site-2: 1 restart
B: site-1: 0 restarts; site-2: 1 restart

WHAT                      A        B  CHANGE
total  evicted            0        0       =
total  restarted          1        1       =
total  unavailable     2m5s     2m5s       =
total  requests        4320     4320       =
total  bytes        1.6 MiB  1.6 MiB       =
1 workload without a difference
)");
}

TEST(CompareResults, SeveralSettingsAndNewWorkloads) {
  RunResult other = patient();
  other.settings.erase("edge.offline-after");
  other.seed = 8;
  other.workloads.push_back({.name = "job/new", .wanted = 1, .restarted = 2});
  const Comparison comparison = compare(test::fleet_result({}), other);
  EXPECT_EQ(comparison.title_a, "A");
  const std::vector<SettingPair> settings = {
      {"cloud.node-monitor-grace-period", "40s", "90s"},
      {"edge.offline-after", "10s", ""},
      {"seed", "7", "8"},
  };
  EXPECT_EQ(comparison.settings, settings);
  EXPECT_EQ(comparison.figures[7], (FigurePair{"job/new", "wanted", Unit::count, 0, 1}));
}

}  // namespace
}  // namespace holdfast::agent::lab
