// Node health, taints and pods of a small cluster, as scripts in virtual time.

#include "sync/lifecycle/fleet.h"

#include "sync/objects/names.h"
#include "test/unit/sync/lifecycle/bench.h"

namespace holdfast::sync::lifecycle {
namespace {

using namespace std::chrono_literals;

// Three nodes, so that the loss of one does not disrupt the zone.
void add_cluster(Bench& bench) {
  for (const char* name : {"a", "b", "c"}) bench.add_node(name);
}

const std::string all_unknown =
    "status a Ready=Unknown(NodeStatusUnknown) MemoryPressure=Unknown(NodeStatusNeverUpdated) "
    "DiskPressure=Unknown(NodeStatusNeverUpdated) PIDPressure=Unknown(NodeStatusNeverUpdated)";

TEST(Fleet, SilenceIsMarkedTaintedEvictedAndForgivenOnReturn) {
  Bench bench(Options{});
  add_cluster(bench);
  bench.add_pod("p", "a", Bench::default_tolerations(300));
  EXPECT_EQ(bench.run_until(101s), Lines{});

  bench.silence("a");  // Its last lease was at 100, so it is lost after 150.
  EXPECT_EQ(bench.run_until(154s), Lines{});
  EXPECT_EQ(bench.run_until(155s),
            (Lines{"155 " + all_unknown,
                   "155 taint a +node.kubernetes.io/unreachable:NoSchedule conditions",
                   "155 event Node/a Normal NodeNotReady", "155 mark default/p",
                   "155 event Pod/p Warning NodeNotReady"}));
  EXPECT_EQ(bench.run_until(160s),
            Lines{"160 taint a +node.kubernetes.io/unreachable:NoExecute queued"});
  EXPECT_EQ(bench.run_until(459s), Lines{});
  EXPECT_EQ(bench.run_until(460s), (Lines{"460 event Pod/p Normal TaintManagerEviction",
                                          "460 disrupt default/p", "460 delete default/p uid-p"}));

  bench.revive("a");
  EXPECT_EQ(bench.run_until(465s),
            (Lines{"460 taint a -node.kubernetes.io/unreachable:NoSchedule conditions",
                   "465 taint a -node.kubernetes.io/unreachable:NoExecute recovered"}));
  EXPECT_EQ(bench.run_until(1h), Lines{});
}

TEST(Fleet, ReturnStopsTheClocksOfPods) {
  Bench bench(Options{});
  add_cluster(bench);
  bench.add_pod("p", "a", Bench::default_tolerations(300));
  (void)bench.run_until(1s);
  bench.silence("a");
  (void)bench.run_until(200s);
  ASSERT_NE(bench.controller().eviction().scheduled("default/p"), nullptr);
  bench.revive("a");
  EXPECT_EQ(bench.run_until(205s),
            (Lines{"200 taint a -node.kubernetes.io/unreachable:NoSchedule conditions",
                   "205 taint a -node.kubernetes.io/unreachable:NoExecute recovered",
                   "205 event Pod/p Normal TaintManagerEviction"}));
  EXPECT_EQ(bench.run_until(2h), Lines{});
  EXPECT_TRUE(bench.has_pod("p"));
}

TEST(Fleet, ANodeThatNeverReportedGetsTheStartupGrace) {
  Bench bench(Options{});
  bench.add_node("b");
  bench.add_node("c");
  bench.set_node(make_node("a", ""));
  EXPECT_EQ(bench.run_until(64s), Lines{});
  const Lines lines = bench.run_until(65s);
  ASSERT_FALSE(lines.empty());
  EXPECT_EQ(lines.front(),
            "65 status a Ready=Unknown(NodeStatusNeverUpdated) "
            "MemoryPressure=Unknown(NodeStatusNeverUpdated) "
            "DiskPressure=Unknown(NodeStatusNeverUpdated) "
            "PIDPressure=Unknown(NodeStatusNeverUpdated)");
}

TEST(Fleet, AFailedStatusWriteIsTriedAgainByTheNextPass) {
  Bench bench(Options{});
  add_cluster(bench);
  (void)bench.run_until(1s);
  bench.silence("a");
  bench.fail("status a", Errc::unavailable, 2);
  const Lines lines = bench.run_until(66s);
  ASSERT_GE(lines.size(), 3u);
  EXPECT_EQ(lines[0], "55 " + all_unknown);
  EXPECT_EQ(lines[1], "60 " + all_unknown);
  EXPECT_EQ(lines[2], "65 " + all_unknown);
  EXPECT_EQ(find_condition(bench.node("a").status, "Ready")->status, "Unknown");
}

TEST(Fleet, PodsLeftUnmarkedAreTriedAgain) {
  Bench bench(Options{});
  add_cluster(bench);
  bench.add_pod("p", "a", Bench::default_tolerations({}));
  bench.add_pod("q", "a", Bench::default_tolerations({}));
  (void)bench.run_until(1s);
  bench.silence("a");
  bench.fail("mark default/p", Errc::conflict, 1);
  bench.fail("mark default/q", Errc::not_found, 1);
  Lines marks;
  for (const std::string& line : bench.run_until(100s)) {
    if (line.find("mark ") != std::string::npos || line.find("event Pod") != std::string::npos) {
      marks.push_back(line);
    }
  }
  EXPECT_EQ(marks,
            (Lines{"55 mark default/p", "55 mark default/q", "55 event Pod/p Warning NodeNotReady",
                   "60 mark default/p", "60 mark default/q", "60 event Pod/p Warning NodeNotReady",
                   "60 event Pod/q Warning NodeNotReady"}));
}

TEST(Fleet, ATaintPatchThatFailsWaitsForTheNextToken) {
  Bench bench(Options{});
  add_cluster(bench);
  (void)bench.run_until(1s);
  bench.silence("a");
  bench.fail("taint a +node.kubernetes.io/unreachable:NoExecute", Errc::unavailable, 1);
  Lines taints;
  for (const std::string& line : bench.run_until(100s)) {
    if (line.find("NoExecute") != std::string::npos) taints.push_back(line);
  }
  EXPECT_EQ(taints, (Lines{"60 taint a +node.kubernetes.io/unreachable:NoExecute queued",
                           "70 taint a +node.kubernetes.io/unreachable:NoExecute queued"}));
}

TEST(Fleet, AConditionTaintThatFailsIsTriedAgain) {
  Bench bench(Options{});
  add_cluster(bench);
  (void)bench.run_until(1s);
  bench.fail("taint a +", Errc::unavailable, 1);
  Node node = bench.node("a");
  node.spec.unschedulable = true;
  bench.set_node(node);
  EXPECT_EQ(bench.run_until(20s),
            (Lines{"1 taint a +node.kubernetes.io/unschedulable:NoSchedule conditions",
                   "5 taint a +node.kubernetes.io/unschedulable:NoSchedule conditions"}));
}

TEST(Fleet, ANodeThatGoesIsForgotten) {
  Bench bench(Options{});
  add_cluster(bench);
  (void)bench.run_until(1s);
  bench.silence("a");
  (void)bench.run_until(60s);
  bench.remove_node("a");
  EXPECT_EQ(bench.run_until(65s), Lines{"65 event Node/a Normal RemovingNode"});
  EXPECT_EQ(bench.controller().fleet().node("a"), nullptr);
  EXPECT_EQ(bench.controller().fleet().size(), 2u);
}

// A new node with the name of a removed one must not inherit its silence.
TEST(Fleet, ANewNodeOfTheSameNameStartsAfresh) {
  Bench bench(Options{});
  add_cluster(bench);
  (void)bench.run_until(1s);
  bench.silence("a");
  (void)bench.run_until(49s);
  Node again = make_node("a", "True");
  again.metadata.uid = "another";
  bench.set_node(again);
  EXPECT_EQ(bench.run_until(99s), Lines{});
  EXPECT_FALSE(bench.run_until(105s).empty());
}

TEST(Fleet, OwnBlindnessIsForgiven) {
  Bench bench(Options{});
  add_cluster(bench);
  (void)bench.run_until(1s);
  for (const char* name : {"a", "b", "c"}) bench.silence(name);
  (void)bench.run_until(49s);
  bench.restore_contact();
  EXPECT_EQ(bench.run_until(99s), Lines{});
}

TEST(Fleet, LabelsFollowTheStableOnes) {
  Bench bench(Options{});
  add_cluster(bench);
  (void)bench.run_until(1s);
  bench.fail("label a", Errc::conflict, 1);
  bench.relabel("a", "kubernetes.io/os", "linux");
  EXPECT_EQ(bench.run_until(10s), (Lines{"1 label a beta.kubernetes.io/os=linux",
                                         "5 label a beta.kubernetes.io/os=linux"}));
  EXPECT_EQ(bench.node("a").metadata.labels.get("beta.kubernetes.io/os"), "linux");
}

}  // namespace
}  // namespace holdfast::sync::lifecycle
