// Autonomy mode withhold: a silent autonomous node is shown Unknown and gets no new pods, but
// nothing is evicted from it while its autonomy lasts.

#include "sync/objects/names.h"
#include "test/unit/sync/lifecycle/bench.h"

namespace holdfast::sync::lifecycle {
namespace {

using namespace std::chrono_literals;

void add_cluster(Bench& bench) {
  for (const char* name : {"a", "b", "c"}) bench.add_node(name);
  bench.add_pod("p", "a", Bench::default_tolerations(300));
  bench.add_pod("bare", "a", {});
}

Lines shortened(const Lines& lines) {
  Lines found;
  for (const std::string& line : lines) {
    found.push_back(line.find(" status ") == std::string::npos
                        ? line
                        : line.substr(0, line.find("=Unknown(") + 8));
  }
  return found;
}

TEST(Withhold, AnAutonomousNodeKeepsItsPodsForEver) {
  for (const std::string_view key : {objects::annotation_autonomy, objects::annotation_binding}) {
    Bench bench(Options{});
    add_cluster(bench);
    bench.annotate("a", key, "true");
    (void)bench.run_until(1s);
    bench.silence("a");
    EXPECT_EQ(shortened(bench.run_until(48h)),
              (Lines{"55 status a Ready=Unknown",
                     "55 taint a +node.kubernetes.io/unreachable:NoSchedule conditions",
                     "55 event Node/a Normal NodeNotReady"}));
    EXPECT_TRUE(bench.has_pod("bare"));
    bench.revive("a");
    EXPECT_EQ(bench.run_until(49h),
              Lines{"172800 taint a -node.kubernetes.io/unreachable:NoSchedule conditions"});
  }
}

TEST(Withhold, AfterTheDurationItIsANodeAsAnyOther) {
  Bench bench(Options{});
  add_cluster(bench);
  bench.annotate("a", objects::annotation_autonomy_duration, "10m");
  (void)bench.run_until(1s);
  bench.silence("a");  // Its last sign of life was at 0, so its autonomy lasts until 600.
  (void)bench.run_until(600s);
  EXPECT_TRUE(bench.has_pod("bare"));
  EXPECT_EQ(bench.run_until(606s),
            (Lines{"605 mark default/bare", "605 mark default/p",
                   "605 taint a +node.kubernetes.io/unreachable:NoExecute queued",
                   "605 event Pod/bare Normal TaintManagerEviction", "605 disrupt default/bare",
                   "605 delete default/bare uid-bare", "605 event Pod/bare Warning NodeNotReady",
                   "605 event Pod/p Warning NodeNotReady"}));
  EXPECT_EQ(bench.run_until(900s), Lines{});
  EXPECT_EQ(bench.run_until(905s).size(), 3u);
  EXPECT_FALSE(bench.has_pod("p"));
}

TEST(Withhold, SetDuringTheOutageItCancelsEvictions) {
  Bench bench(Options{});
  add_cluster(bench);
  (void)bench.run_until(1s);
  bench.silence("a");
  (void)bench.run_until(201s);
  ASSERT_NE(bench.controller().eviction().scheduled("default/p"), nullptr);
  bench.annotate("a", objects::annotation_autonomy, "true");
  EXPECT_EQ(bench.run_until(205s),
            (Lines{"201 event Pod/p Normal TaintManagerEviction",
                   "205 taint a -node.kubernetes.io/unreachable:NoExecute recovered"}));
  EXPECT_EQ(bench.run_until(10h), Lines{});
  EXPECT_TRUE(bench.has_pod("p"));
}

// The pod tolerates the taint that is left for two hours, and being lost for half a minute.
TEST(Withhold, ATimerOfTheOutageDoesNotOutliveIt) {
  for (const bool outlives : {false, true}) {
    Options options;
    options.timers_outlive_taints = outlives;
    Bench bench(options);
    for (const char* name : {"a", "b", "c"}) bench.add_node(name);
    std::vector<Toleration> tolerations = Bench::default_tolerations(30);
    tolerations.push_back(make_toleration("dedicated", 7200));
    bench.add_pod("p", "a", tolerations);
    (void)bench.run_until(1s);
    bench.silence("a");
    (void)bench.run_until(61s);
    ASSERT_NE(bench.controller().eviction().scheduled("default/p"), nullptr);
    Node node = bench.node("a");
    node.spec.taints.push_back(make_no_execute("dedicated"));
    bench.set_node(node);
    (void)bench.run_until(64s);
    bench.annotate("a", objects::annotation_autonomy, "true");
    (void)bench.run_until(1h);
    EXPECT_TRUE(bench.has_pod("p"));
    (void)bench.run_until(3h);
    EXPECT_FALSE(bench.has_pod("p")) << "the taint that is left was tolerated for two hours";
  }
}

TEST(Withhold, TakenAwayDuringTheOutageEvictionsBegin) {
  Bench bench(Options{});
  add_cluster(bench);
  bench.annotate("a", objects::annotation_autonomy, "true");
  (void)bench.run_until(1s);
  bench.silence("a");
  (void)bench.run_until(1000s);
  bench.annotate("a", objects::annotation_autonomy, "false");
  const Lines lines = bench.run_until(1006s);
  ASSERT_EQ(lines.size(), 8u);
  EXPECT_EQ(lines[2], "1005 taint a +node.kubernetes.io/unreachable:NoExecute queued");
  EXPECT_FALSE(bench.has_pod("bare"));
}

TEST(Withhold, MalformedDurationIsReportedOnceAndIsNoAutonomy) {
  Bench bench(Options{});
  add_cluster(bench);
  bench.annotate("a", objects::annotation_autonomy_duration, "soon");
  EXPECT_EQ(bench.run_until(30s), Lines{"0 event Node/a Warning InvalidAutonomyDuration"});
  bench.annotate("a", objects::annotation_autonomy_duration, "2 hours");
  EXPECT_EQ(bench.run_until(35s), Lines{"35 event Node/a Warning InvalidAutonomyDuration"});
  bench.silence("a");
  (void)bench.run_until(200s);
  EXPECT_FALSE(bench.has_pod("bare"));
}

TEST(Withhold, ForeignTaintsEvictAllTheSame) {
  Bench bench(Options{});
  add_cluster(bench);
  bench.annotate("a", objects::annotation_autonomy, "true");
  (void)bench.run_until(1s);
  bench.silence("a");
  (void)bench.run_until(100s);
  Node node = bench.node("a");
  node.spec.taints.push_back(make_no_execute("maintenance"));
  bench.set_node(node);
  (void)bench.run_until(101s);
  EXPECT_FALSE(bench.has_pod("bare"));
  EXPECT_FALSE(bench.has_pod("p"));
}

TEST(Withhold, APodThatComesLateStaysReadyUntilItEnds) {
  Bench bench(Options{});
  add_cluster(bench);
  bench.annotate("a", objects::annotation_autonomy_duration, "10m");
  (void)bench.run_until(1s);
  bench.silence("a");
  (void)bench.run_until(100s);
  bench.add_pod("late", "a", Bench::default_tolerations(300));
  EXPECT_EQ(bench.run_until(600s), Lines{});
  const Lines lines = bench.run_until(605s);
  EXPECT_NE(std::find(lines.begin(), lines.end(), "605 mark default/late"), lines.end());
}

TEST(Withhold, ARestartedControllerWithholdsAsBefore) {
  Bench bench(Options{});
  add_cluster(bench);
  bench.annotate("a", objects::annotation_autonomy, "true");
  (void)bench.run_until(1s);
  bench.silence("a");
  (void)bench.run_until(100s);
  bench.restart();
  EXPECT_EQ(bench.run_until(10h), Lines{});
  EXPECT_TRUE(bench.has_pod("bare"));
}

TEST(Withhold, WithoutTaintsNobodyIsDeletedEither) {
  Options options;
  options.taint_based_evictions = false;
  Bench bench(options);
  add_cluster(bench);
  bench.annotate("a", objects::annotation_autonomy_duration, "10m");
  (void)bench.run_until(1s);
  bench.silence("a");
  (void)bench.run_until(600s);
  EXPECT_TRUE(bench.has_pod("bare"));
  (void)bench.run_until(610s);
  EXPECT_FALSE(bench.has_pod("bare"));
}

}  // namespace
}  // namespace holdfast::sync::lifecycle
