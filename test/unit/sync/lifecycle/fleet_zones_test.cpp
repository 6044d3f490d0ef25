// Zones: at which rate a lost site is evicted, and that nothing is evicted if all zones are lost.

#include "sync/lifecycle/zones.h"
#include "sync/objects/names.h"
#include "test/unit/sync/lifecycle/bench.h"

namespace holdfast::sync::lifecycle {
namespace {

using namespace std::chrono_literals;

void add_site(Bench& bench, const std::string& site, int nodes) {
  for (int index = 0; index < nodes; ++index) {
    const std::string name = site + std::to_string(index);
    bench.add_node(name);
    bench.relabel(name, objects::label_zone, site);
  }
}

void silence_site(Bench& bench, const std::string& site, int nodes) {
  for (int index = 0; index < nodes; ++index) bench.silence(site + std::to_string(index));
}

Lines only(const Lines& lines, std::string_view part) {
  Lines found;
  for (const std::string& line : lines) {
    if (line.find(part) != std::string::npos) found.push_back(line.substr(0, line.find(" +")));
  }
  return found;
}

std::string state_of(const Bench& bench, std::string_view site) {
  std::string key(":\0:", 3);
  return std::string(
      to_string(bench.controller().fleet().zones().all().at(key + std::string(site)).state));
}

TEST(Zones, AWholeSiteIsMarkedInOnePassAndTaintedAtTheRate) {
  Bench bench(Options{});
  add_site(bench, "x", 4);
  add_site(bench, "y", 2);
  (void)bench.run_until(1s);
  silence_site(bench, "x", 4);
  const Lines lines = bench.run_until(100s);
  EXPECT_EQ(only(lines, "status").size(), 4u);
  for (const std::string& line : only(lines, "status")) EXPECT_EQ(line.substr(0, 3), "55 ");
  EXPECT_EQ(only(lines, "NoExecute"),
            (Lines{"60 taint x0", "70 taint x1", "80 taint x2", "90 taint x3"}));
  EXPECT_EQ(state_of(bench, "x"), "FullDisruption");
  EXPECT_EQ(state_of(bench, "y"), "Normal");
}

TEST(Zones, EverythingDarkTaintsNobodyAndTakesTaintsBack) {
  Bench bench(Options{});
  add_site(bench, "x", 2);
  add_site(bench, "y", 1);
  (void)bench.run_until(1s);
  bench.silence("x0");
  EXPECT_EQ(only(bench.run_until(61s), "NoExecute"), Lines{"60 taint x0"});
  bench.silence("x1");
  bench.silence("y0");
  const Lines dark = bench.run_until(300s);
  EXPECT_EQ(only(dark, "recovered"),
            Lines{"115 taint x0 -node.kubernetes.io/unreachable:NoExecute recovered"});
  EXPECT_EQ(only(dark, "queued"), Lines{});

  bench.revive("y0");
  const Lines light = bench.run_until(400s);
  EXPECT_EQ(only(light, "queued"), (Lines{"315 taint x0", "325 taint x1"}));
}

TEST(Zones, AHalfDeadSmallSiteStandsStill) {
  Bench bench(Options{});
  add_site(bench, "x", 5);
  (void)bench.run_until(1s);
  silence_site(bench, "x", 3);
  EXPECT_EQ(only(bench.run_until(10min), "NoExecute"), Lines{});
  EXPECT_EQ(state_of(bench, "x"), "PartialDisruption");
}

TEST(Zones, AHalfDeadLargeSiteGoesSlowly) {
  Options options;
  options.large_cluster_size = 4;
  Bench bench(options);
  add_site(bench, "x", 5);
  (void)bench.run_until(1s);
  silence_site(bench, "x", 3);
  EXPECT_EQ(only(bench.run_until(300s), "NoExecute"),
            (Lines{"60 taint x0", "160 taint x1", "260 taint x2"}));
}

TEST(Zones, ANodeThatMovesWaitsInItsNewZone) {
  Bench bench(Options{});
  add_site(bench, "x", 3);
  add_site(bench, "y", 3);
  (void)bench.run_until(1s);
  silence_site(bench, "x", 2);
  EXPECT_EQ(only(bench.run_until(61s), "NoExecute"), Lines{"60 taint x0"});
  bench.relabel("x1", objects::label_zone, "y");
  EXPECT_EQ(only(bench.run_until(66s), "NoExecute"), Lines{"65 taint x1"});
}

TEST(Zones, ExcludedNodesDoNotCountButAreTainted) {
  Bench bench(Options{});
  add_site(bench, "x", 2);
  bench.relabel("x0", objects::label_exclude_disruption, "");
  (void)bench.run_until(1s);
  bench.silence("x0");
  EXPECT_EQ(only(bench.run_until(100s), "NoExecute"), Lines{"60 taint x0"});
  EXPECT_EQ(state_of(bench, "x"), "Normal");
}

TEST(Zones, ANodeWithoutZoneHasTheEmptyKey) {
  EXPECT_EQ(zone_key({}), "");
  EXPECT_EQ(zone_key({{"topology.kubernetes.io/region", "r"}}), std::string("r:\0:", 4));
}

TEST(Zones, RatesBelowZeroStandStill) {
  Options options;
  options.eviction_rate = -1;
  Bench bench(options);
  add_site(bench, "x", 3);
  (void)bench.run_until(1s);
  bench.silence("x0");
  EXPECT_EQ(only(bench.run_until(10min), "NoExecute"), Lines{});
}

}  // namespace
}  // namespace holdfast::sync::lifecycle
