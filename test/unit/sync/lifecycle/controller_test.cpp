#include "sync/lifecycle/controller.h"

#include <map>

#include "sync/lifecycle/taints.h"
#include "sync/objects/names.h"
#include "test/unit/sync/lifecycle/bench.h"
#include "test/unit/sync/lifecycle/stepped.h"

namespace holdfast::sync::lifecycle {
namespace {

using namespace std::chrono_literals;

// While a NoSchedule patch is in flight, changes wait. Afterwards one more patch is made from the
// latest state.
TEST(Controller, OneNoSchedulePatchForANodeAtATime) {
  SteppedController controller{Options{}};
  Node node = make_node("a", "True");
  node.spec.unschedulable = true;
  const Effects first = controller.set_node(start, wall, node);
  ASSERT_EQ(describe(first),
            Lines{"taint a +node.kubernetes.io/unschedulable:NoSchedule conditions"});
  node.spec.unschedulable = false;
  node.status.conditions.front().status = "False";
  EXPECT_EQ(controller.set_node(start, wall, node), Effects{});
  EXPECT_EQ(describe(controller.settle(start, wall, first.front(), {})),
            Lines{"taint a +node.kubernetes.io/not-ready:NoSchedule conditions"});
}

// The taint does not wait for the watch and uses the version that the status write has returned.
TEST(Controller, TheTaintOfASilentNodeFollowsItsStatus) {
  SteppedController controller{Options{}};
  Node node = make_node("a", "True");
  node.metadata.resource_version = "10";
  (void)controller.set_node(start, wall, node);
  (void)controller.tick(start, wall);
  const Effects lost = controller.tick(start + 51s, wall + 51s);
  ASSERT_EQ(lost.size(), 1U);
  ASSERT_TRUE(std::holds_alternative<UpdateNodeStatus>(lost.front()));
  node.status.conditions = std::get<UpdateNodeStatus>(lost.front()).conditions;
  node.metadata.resource_version = "11";
  const Outcome written{std::nullopt, facts_of(node, Options{})};
  const Effects next = controller.settle(start + 51s, wall + 51s, lost.front(), written);
  EXPECT_EQ(describe(next),
            (Lines{"event Node/a Normal NodeNotReady",
                   "taint a +node.kubernetes.io/unreachable:NoSchedule conditions"}));
  const auto& taint = std::get<PatchTaints>(next.back());
  EXPECT_EQ(taint.seen, (TaintsSeen{"11", {}}));

  // The watch delivers the status while the taint is being written, and again after that.
  EXPECT_EQ(controller.set_node(start + 51s, wall + 51s, node), Effects{});
  Node tainted = node;
  tainted.metadata.resource_version = "12";
  tainted.spec.taints = taint.add;
  const Outcome done{std::nullopt, facts_of(tainted, Options{})};
  EXPECT_EQ(controller.settle(start + 51s, wall + 51s, taint, done), Effects{});
  EXPECT_EQ(controller.set_node(start + 51s, wall + 51s, node), Effects{});
  EXPECT_EQ(controller.set_node(start + 51s, wall + 51s, tainted), Effects{});
}

// An API server that was restored from a backup issues lower versions again.
TEST(Controller, ANodeThatStaysOlderThanOurWriteIsReconciledByTheNextPass) {
  SteppedController controller{Options{}};
  Node node = make_node("a", "True");
  node.metadata.resource_version = "10";
  node.spec.unschedulable = true;
  const Effects first = controller.set_node(start, wall, node);
  (void)controller.tick(start, wall);
  Node written = node;
  written.metadata.resource_version = "12";
  written.spec.taints = std::get<PatchTaints>(first.front()).add;
  const Outcome done{std::nullopt, facts_of(written, Options{})};
  EXPECT_EQ(controller.settle(start, wall, first.front(), done), Effects{});
  node.metadata.resource_version = "9";
  EXPECT_EQ(controller.set_node(start + 1s, wall, node), Effects{});
  EXPECT_EQ(describe(controller.tick(start + 5s, wall)),
            Lines{"taint a +node.kubernetes.io/unschedulable:NoSchedule conditions"});
}

TEST(Controller, WhatIsSettledAfterItsNodeWentIsIgnored) {
  SteppedController controller{Options{}};
  Node node = make_node("a", "True");
  node.spec.unschedulable = true;
  const Effects first = controller.set_node(start, wall, node);
  (void)controller.tick(start, wall);
  (void)controller.remove_node("a");
  EXPECT_EQ(controller.settle(start, wall, first.front(), {Errc::not_found, {}}), Effects{});
  EXPECT_EQ(describe(controller.tick(start + 5s, wall)), Lines{"event Node/a Normal RemovingNode"});
  EXPECT_EQ(controller.tick(start + 10s, wall), Effects{});
}

TEST(Controller, PassesFollowOneAnotherByThePeriod) {
  SteppedController controller{Options{}};
  EXPECT_LE(controller.next(), start);
  (void)controller.tick(start + 1s, wall);
  EXPECT_EQ(controller.next(), start + 6s);
  (void)controller.tick(start + 9s, wall);
  EXPECT_EQ(controller.next(), start + 14s);
}

TEST(Controller, TaintEvictionAloneJudgesNobody) {
  Bench bench(Options{}, {.node_lifecycle = false, .taint_eviction = true});
  bench.add_node("a");
  bench.add_pod("p", "a", {});
  bench.silence("a");
  EXPECT_EQ(bench.run_until(1h), Lines{});
  Node node = bench.node("a");
  node.spec.taints.push_back(make_no_execute("x"));
  bench.set_node(node);
  EXPECT_EQ(bench.run_until(1h).size(), 3u);
  EXPECT_FALSE(bench.has_pod("p"));
}

TEST(Controller, NodeLifecycleAloneDeletesNobody) {
  Bench bench(Options{}, {.node_lifecycle = true, .taint_eviction = false});
  for (const char* name : {"a", "b", "c"}) bench.add_node(name);
  bench.add_pod("p", "a", {});
  bench.silence("a");
  (void)bench.run_until(1h);
  EXPECT_TRUE(
      has_taint(bench.node("a").spec.taints, objects::taint_unreachable, objects::no_execute));
  EXPECT_TRUE(bench.has_pod("p"));
}

TEST(Controller, ARestartStartsEveryClockAgain) {
  Bench bench(Options{});
  for (const char* name : {"a", "b", "c"}) bench.add_node(name);
  bench.add_pod("p", "a", Bench::default_tolerations(300));
  bench.silence("a");
  (void)bench.run_until(200s);
  bench.restart();
  (void)bench.run_until(499s);
  EXPECT_TRUE(bench.has_pod("p"));
  (void)bench.run_until(510s);
  EXPECT_FALSE(bench.has_pod("p"));
}

// While the API server was unreachable, the toleration seconds of a lost node's pods expired. The
// node may be back meanwhile.
TEST(Controller, AfterOwnBlindnessNobodyIsEvictedForAGrace) {
  Bench bench(Options{});
  for (const char* name : {"a", "b", "c"}) bench.add_node(name);
  bench.add_pod("p", "a", Bench::default_tolerations(300));
  bench.silence("a");
  (void)bench.run_until(350s);
  bench.restore_contact();
  (void)bench.run_until(390s);
  EXPECT_TRUE(bench.has_pod("p"));
  bench.revive("a");
  (void)bench.run_until(1h);
  EXPECT_TRUE(bench.has_pod("p"));

  bench.silence("a");
  (void)bench.run_until(1h + 350s);
  bench.restore_contact();
  (void)bench.run_until(1h + 406s);
  EXPECT_FALSE(bench.has_pod("p"));
}

// One node was found silent before the API server failed, the others during its outage. When the
// evictions resume, all of them must count as silent, so that none is tainted. Returns the taints
// if the lists arrive `late` after the API server was reachable, and the first pass at
// `first_pass`.
Lines taints_after_blindness(Duration late, Duration first_pass) {
  const Options options;
  SteppedController controller(options);
  controller.restore_contact(start);
  std::map<std::string, Node> nodes;
  for (const std::string name : {"x", "y", "z"}) {
    nodes[name] = make_node(name, name == "x" ? "Unknown" : "True");
    (void)controller.set_node(start + late, wall + late, nodes[name]);
  }
  Lines taints;
  for (Duration at = first_pass; at <= options.monitor_grace + 60s;
       at = std::max(controller.next() - start, at + 1ms)) {
    for (const Effect& effect : controller.tick(start + at, wall + at)) {
      const auto* taint = std::get_if<PatchTaints>(&effect);
      const bool is_eviction = taint != nullptr && taint->cause == TaintCause::queued;
      if (is_eviction) taints.push_back(describe({effect}).front());
      Outcome outcome;
      if (const auto* update = std::get_if<UpdateNodeStatus>(&effect)) {
        nodes[update->node].status.conditions = update->conditions;
        outcome.node = facts_of(nodes[update->node], options);
      }
      (void)controller.settle(start + at, wall + at, effect, outcome);
    }
  }
  return taints;
}

TEST(Controller, AfterOwnBlindnessAllSilentNodesAreFoundBeforeOneIsTainted) {
  for (const Duration late : {0ms, 1ms, 2000ms, 4999ms}) {
    for (const Duration pass : {0ms, 1ms, 2500ms, 4999ms}) {
      EXPECT_EQ(taints_after_blindness(late, late + pass), Lines{}) << late.count() << pass.count();
    }
  }
}

TEST(Controller, APodAssignedToALostNodeIsMarked) {
  Bench bench(Options{});
  for (const char* name : {"a", "b", "c"}) bench.add_node(name);
  bench.silence("a");
  (void)bench.run_until(100s);
  bench.add_pod("late", "a", Bench::default_tolerations({}));
  EXPECT_EQ(bench.run_until(101s),
            (Lines{"100 mark default/late", "100 event Pod/late Warning NodeNotReady"}));
}

// A returning node reports its pods, is lost again before it posts its own status, and stays away.
TEST(Controller, APodThatALostNodeHasReportedIsMarkedAgain) {
  Bench bench{Options{}};
  bench.add_node("a");
  bench.add_node("b");
  bench.add_pod("p", "a", Bench::default_tolerations(3600));
  (void)bench.run_until(10s);
  bench.silence("a");
  (void)bench.run_until(100s);
  bench.report_ready("p");
  EXPECT_EQ(bench.run_until(10min),
            (Lines{"155 mark default/p", "155 event Pod/p Warning NodeNotReady"}));
  Options upstream;
  upstream.mark_pods_again = false;
  Bench other{upstream};
  other.add_node("a");
  other.add_node("b");
  other.add_pod("p", "a", Bench::default_tolerations(3600));
  (void)other.run_until(10s);
  other.silence("a");
  (void)other.run_until(100s);
  other.report_ready("p");
  EXPECT_EQ(other.run_until(10min), Lines{});
}

// Its lease says that it lives: then its own status will follow.
TEST(Controller, APodThatAReturningNodeHasReportedStaysReady) {
  Bench bench{Options{}};
  bench.add_node("a");
  bench.add_node("b");
  bench.add_pod("p", "a", Bench::default_tolerations(3600));
  (void)bench.run_until(10s);
  bench.silence("a");
  (void)bench.run_until(100s);
  bench.revive("a");
  bench.report_ready("p");
  EXPECT_EQ(bench.run_until(10min),
            (Lines{"100 taint a -node.kubernetes.io/unreachable:NoSchedule conditions",
                   "105 taint a -node.kubernetes.io/unreachable:NoExecute recovered",
                   "105 event Pod/p Normal TaintManagerEviction"}));
}

// The second node becomes silent while the first one's taint is still being written, or when it is
// written but no watch has delivered it yet. Returns the taints that were written by then.
Lines taints_when_everything_goes_dark(bool written) {
  Options options;
  SteppedController controller(options);
  std::map<std::string, Node> nodes;
  for (const std::string name : {"x", "y"}) {
    nodes[name] = make_node(name, "True");
    nodes[name].metadata.labels.set(objects::label_zone, name);
    (void)controller.set_node(start, wall, nodes[name]);
  }
  Lines taints;
  for (Duration at{}; at <= options.monitor_grace + 60s; at += options.monitor_period) {
    const MonoTime now = start + at;
    if (at <= 20s) {
      Lease lease;
      lease.metadata.name = "y";
      lease.spec.renew_time = wall + at;
      controller.set_lease(now, lease);
    }
    for (const Effect& effect : controller.tick(now, wall + at)) {
      if (const auto* taint = std::get_if<PatchTaints>(&effect)) {
        if (taint->cause != TaintCause::conditions) taints.push_back(describe({effect}).front());
        if (taint->cause == TaintCause::queued && !written) continue;  // Its outcome never arrives.
      }
      Outcome outcome;
      if (const auto* update = std::get_if<UpdateNodeStatus>(&effect)) {
        nodes[update->node].status.conditions = update->conditions;
        outcome.node = facts_of(nodes[update->node], options);
        (void)controller.set_node(now, wall + at, nodes[update->node]);
      }
      (void)controller.settle(now, wall + at, effect, outcome);
    }
  }
  return taints;
}

TEST(Controller, ATaintOnItsWayIsTakenBackWhenEverythingGoesDark) {
  const Lines taints = taints_when_everything_goes_dark(false);
  ASSERT_GE(taints.size(), 2u);
  EXPECT_EQ(taints[0].substr(0, 7), "taint x");
  EXPECT_NE(taints[1].find("taint x -node.kubernetes.io/unreachable:NoExecute"), std::string::npos)
      << taints[1];
}

TEST(Controller, ATaintThatNoWatchHasDeliveredIsTakenBackWhenEverythingGoesDark) {
  const Lines taints = taints_when_everything_goes_dark(true);
  ASSERT_GE(taints.size(), 2u);
  EXPECT_EQ(taints[0].substr(0, 7), "taint x");
  EXPECT_NE(taints.back().find("taint x -node.kubernetes.io/unreachable:NoExecute"),
            std::string::npos)
      << taints.back();
}

TEST(Controller, WhatIsGoingAlreadyIsNotDeletedAgain) {
  SteppedController controller{Options{}};
  Pod pod;
  pod.metadata = {.name = "p", .namespace_name = "ns", .uid = "1"};
  pod.spec.node_name = "a";
  const PodRef ref{"ns", "p", "1"};
  const Effect needless[] = {MarkPodDisrupted{ref, wall}, EvictPod{ref}, DeletePod{ref}};
  (void)controller.set_pod(start, wall, pod);
  for (const Effect& effect : needless) EXPECT_FALSE(controller.machine().is_obsolete(effect));
  pod.metadata.deletion_timestamp = wall;
  pod.metadata.deletion_grace_period_seconds = 30;
  (void)controller.set_pod(start, wall, pod);
  for (const Effect& effect : needless) EXPECT_TRUE(controller.machine().is_obsolete(effect));
  EXPECT_FALSE(controller.machine().is_obsolete(DeletePod{ref, DeadNode{}})) << "by force";
  EXPECT_FALSE(controller.machine().is_obsolete(DeletePod{{"ns", "p", "2"}}))
      << "another pod of that name";
  EXPECT_FALSE(controller.machine().is_obsolete(FailPod{ref, {}}));
}

TEST(Controller, MalformedObjectsHarmNobody) {
  SteppedController controller{Options{}};
  Node nameless;
  EXPECT_EQ(controller.set_node(start, wall, nameless), Effects{});
  Node odd = make_node("odd", "Perhaps");
  odd.metadata.creation_timestamp.reset();
  EXPECT_EQ(controller.set_node(start, wall, odd), Effects{});
  Lease empty;
  empty.metadata.name = "odd";
  controller.set_lease(start, empty);
  controller.remove_lease("never seen");
  EXPECT_EQ(controller.remove_node("never seen"), Effects{});
  EXPECT_EQ(controller.remove_pod("never", "seen"), Effects{});
  for (int second = 0; second < 300; second += 5) {
    const MonoTime now = start + std::chrono::seconds(second);
    for (const Effect& effect : controller.tick(now, wall)) {
      (void)controller.settle(now, wall, effect, {Errc::invalid, {}});
    }
  }
}

}  // namespace
}  // namespace holdfast::sync::lifecycle
