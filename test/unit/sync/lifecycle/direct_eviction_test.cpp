#include "sync/lifecycle/direct_eviction.h"

#include "test/unit/sync/lifecycle/bench.h"

namespace holdfast::sync::lifecycle {
namespace {

using namespace std::chrono_literals;

struct RunResult {
  Lines lines;
  bool failed = false;
  bool operator==(const RunResult&) const = default;
};

// Runs an eviction to its end. Effects whose lines are in `errors` fail.
RunResult run(std::vector<PodFacts> pods, std::set<std::string> exempt,
              const std::map<std::string, Errc>& errors) {
  DirectEviction eviction(make_facts("a", "Unknown"), std::move(pods), std::move(exempt));
  RunResult run;
  while (const auto effect = eviction.next()) {
    const std::string line = describe({*effect}).front();
    run.lines.push_back(line);
    if (std::holds_alternative<RecordEvent>(*effect)) continue;
    const auto error = errors.find(line);
    eviction.settle(error == errors.end() ? Outcome{} : Outcome{error->second, {}});
  }
  run.failed = eviction.failed();
  return run;
}

const PodFacts p = make_pod_facts("p", "a");
const PodFacts q = make_pod_facts("q", "a");
const std::string all = "event Node/a Normal DeletingAllPods";
const std::string told_p = "event Pod/p Normal NodeControllerEviction";
const std::string told_q = "event Pod/q Normal NodeControllerEviction";

TEST(DirectEviction, MarksTellsAndDeletesOneByOne) {
  const RunResult expect{{all, "lost default/p", told_p, "delete default/p uid-p", "lost default/q",
                          told_q, "delete default/q uid-q"},
                         false};
  EXPECT_EQ(run({p, q}, {}, {}), expect);
  EXPECT_EQ(run({}, {}, {}), RunResult{});
}

TEST(DirectEviction, SparesTheTerminatingAndThoseOfDaemonSets) {
  PodFacts terminating = p;
  terminating.terminating = true;
  const RunResult expect{{all, "lost default/p", "lost default/q"}, false};
  EXPECT_EQ(run({terminating, q}, {"default/q"}, {}), expect);
}

TEST(DirectEviction, OnlyAConflictSkipsAPod) {
  const RunResult conflict{
      {all, "lost default/p", "lost default/q", told_q, "delete default/q uid-q"}, true};
  EXPECT_EQ(run({p, q}, {}, {{"lost default/p", Errc::conflict}}), conflict);
  const RunResult other{{all, "lost default/p", told_p, "delete default/p uid-p"}, false};
  EXPECT_EQ(run({p}, {}, {{"lost default/p", Errc::unavailable}}), other);
}

TEST(DirectEviction, AFailedDeletionEndsTheRunButAGonePodIsFine) {
  const RunResult failed{{all, "lost default/p", told_p, "delete default/p uid-p"}, true};
  EXPECT_EQ(run({p, q}, {}, {{"delete default/p uid-p", Errc::denied}}), failed);
  const auto gone = run({p, q}, {}, {{"delete default/p uid-p", Errc::not_found}});
  EXPECT_EQ(gone.lines.size(), 7u);
  EXPECT_FALSE(gone.failed);
}

TEST(DirectEviction, PodsGoAfterTheTimeoutAndLateOnesAtOnce) {
  Options options;
  options.taint_based_evictions = false;
  Bench bench(options);
  for (const char* name : {"a", "b", "c"}) bench.add_node(name);
  bench.add_pod("p", "a", {});
  (void)bench.run_until(1s);
  bench.silence("a");
  (void)bench.run_until(299s);
  EXPECT_TRUE(bench.has_pod("p"));
  EXPECT_EQ(bench.run_until(305s), (Lines{"305 " + all, "305 lost default/p", "305 " + told_p,
                                          "305 delete default/p uid-p"}));
  bench.add_pod("late", "a", {});
  EXPECT_EQ(bench.run_until(306s),
            (Lines{"305 " + all, "305 lost default/late", "305 mark default/late",
                   "305 event Pod/late Normal NodeControllerEviction",
                   "305 delete default/late uid-late", "305 event Pod/late Warning NodeNotReady"}));
}

// 1.16 with TaintBasedEvictions=false: the controller taints nobody, but others' taints evict.
TEST(DirectEviction, TaintsOfOthersEvictBesideIt) {
  Options options;
  options.taint_based_evictions = false;
  for (const bool taint_manager : {true, false}) {
    EnabledControllers parts;
    parts.taint_eviction = taint_manager;
    Bench bench(options, parts);
    for (const char* name : {"a", "b"}) bench.add_node(name);
    bench.add_pod("p", "a", {});
    bench.add_pod("q", "b", {});
    (void)bench.run_until(1s);
    Node tainted = bench.node("a");
    tainted.spec.taints.push_back(make_taint("k", objects::no_execute, test_epoch));
    bench.set_node(tainted);
    bench.silence("b");
    (void)bench.run_until(10s);
    EXPECT_EQ(bench.has_pod("p"), !taint_manager);
    EXPECT_TRUE(bench.has_pod("q"));
    (void)bench.run_until(310s);
    EXPECT_FALSE(bench.has_pod("q")) << "after the timeout";
    EXPECT_TRUE(bench.node("b").spec.taints.size() <= 1) << "no NoExecute taint";
  }
}

// Both want to delete the same pod at the same time.
TEST(DirectEviction, APodThatATaintEvictsToo) {
  Options options;
  options.taint_based_evictions = false;
  Bench bench(options);
  for (const char* name : {"a", "b"}) bench.add_node(name);
  bench.add_pod("p", "a", {});
  bench.fail("delete default/p uid-p", Errc::unavailable, 1000);
  (void)bench.run_until(1s);
  bench.silence("a");
  Node tainted = bench.node("a");
  tainted.spec.taints.push_back(make_taint("k", objects::no_execute, test_epoch));
  bench.set_node(tainted);
  (void)bench.run_until(400s);
  EXPECT_TRUE(bench.has_pod("p"));
  bench.controller().check_invariants();
}

TEST(DirectEviction, ADaemonSetSelectsByLabels) {
  DaemonSet set;
  set.metadata.namespace_name = "default";
  set.spec.selector.match_labels = {{"app", "x"}};
  PodFacts pod = p;
  EXPECT_FALSE(selects(set, pod));
  pod.labels = {{"app", "x"}};
  EXPECT_TRUE(selects(set, pod));
  pod.namespace_name = "other";
  EXPECT_FALSE(selects(set, pod));
  set.metadata.namespace_name = "other";
  set.spec.selector = {};
  EXPECT_FALSE(selects(set, pod));
}

}  // namespace
}  // namespace holdfast::sync::lifecycle
