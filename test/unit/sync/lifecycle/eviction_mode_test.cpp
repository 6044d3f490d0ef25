// Taint eviction through the eviction API: attempts, refusals by a budget, and the final deletion.

#include "sync/lifecycle/taint_eviction.h"
#include "sync/objects/names.h"
#include "test/unit/sync/lifecycle/describe.h"

namespace holdfast::sync::lifecycle {
namespace {

using namespace std::chrono_literals;

Options asking(Duration deadline) {
  Options options;
  options.eviction_mode = EvictionMode::evict;
  options.eviction_deadline = deadline;
  return options;
}

NodeFacts tainted_node(const std::string& key) {
  NodeFacts node = make_facts("a", "Unknown");
  node.taints.push_back(make_no_execute(key));
  return node;
}

const std::string eviction_told = "event Pod/p Normal TaintManagerEviction";
const std::string asked = "evict default/p uid-p";
const EvictPod question{{"default", "p", "uid-p"}};
const MarkPodDisrupted marking{{"default", "p", "uid-p"}, wall};
const DeletePod plain_deletion{{"default", "p", "uid-p"}};

// The API server sets DisruptionTarget on pods that it evicts, so the controller does not write it.
TEST(EvictionMode, AnAgreedEvictionIsAllThatHappens) {
  TaintEviction eviction(asking(10min));
  const PodFacts pod = make_pod_facts("p", "a");
  EXPECT_EQ(describe(eviction.set_node(start, wall, tainted_node("x"), {&pod})),
            (Lines{eviction_told, asked}));
  EXPECT_EQ(eviction.settle(start, question, {}), Effects{});
  EXPECT_EQ(eviction.next(), MonoTime::max());
}

// A pod that has ended needs no eviction. Without this mode upstream's behaviour counts.
TEST(EvictionMode, APodThatHasEndedStays) {
  PodFacts pod = make_pod_facts("p", "a");
  pod.ended = true;
  TaintEviction asks(asking(10min));
  EXPECT_EQ(asks.set_node(start, wall, tainted_node("x"), {&pod}), Effects{});
  EXPECT_EQ(asks.next(), MonoTime::max());
  TaintEviction deletes{Options{}};
  EXPECT_EQ(describe(deletes.set_node(start, wall, tainted_node("x"), {&pod})).size(), 2U);

  // It ends while it waits.
  PodFacts running = make_pod_facts("p", "a");
  running.tolerations.push_back(make_toleration("x", 60));
  pod.tolerations = running.tolerations;
  TaintEviction waits(asking(10min));
  (void)waits.set_node(start, wall, tainted_node("x"), {&running});
  EXPECT_EQ(waits.next(), start + 60s);
  EXPECT_EQ(describe(waits.set_pod(start + 1s, wall, &running, pod)), Lines{eviction_told});
  EXPECT_EQ(waits.next(), MonoTime::max());
}

TEST(EvictionMode, RefusalsAreAskedAgainEverLaterAndDeletedAtTheDeadline) {
  TaintEviction eviction(asking(150s));
  const PodFacts pod = make_pod_facts("p", "a");
  (void)eviction.set_node(start, wall, tainted_node("x"), {&pod});
  MonoTime now = start;
  for (const Duration pause : {5s, 10s, 20s, 40s, 60s}) {
    EXPECT_EQ(eviction.settle(now, question, {Errc::exhausted, {}}), Effects{});
    EXPECT_EQ(eviction.next(), now + pause);
    now = eviction.next();
    EXPECT_EQ(describe(eviction.fire(now, wall)), Lines{asked});
  }
  // 135 s have passed, so the next pause is shortened to the deadline.
  EXPECT_EQ(eviction.settle(now, question, {Errc::exhausted, {}}), Effects{});
  EXPECT_EQ(eviction.next(), start + 150s);
  EXPECT_EQ(eviction.fire(start + 150s, wall), Effects{marking});
  EXPECT_EQ(eviction.settle(start + 150s, marking, {}), Effects{plain_deletion});
  EXPECT_EQ(eviction.settle(start + 150s, plain_deletion, {}), Effects{});
  EXPECT_EQ(eviction.next(), MonoTime::max());
}

TEST(EvictionMode, WithoutDeadlineItAsksForEver) {
  TaintEviction eviction(asking(0s));
  const PodFacts pod = make_pod_facts("p", "a");
  (void)eviction.set_node(start, wall, tainted_node("x"), {&pod});
  MonoTime now = start;
  for (int round = 0; round < 1000; ++round) {
    (void)eviction.settle(now, question, {Errc::exhausted, {}});
    EXPECT_LE(eviction.next(), now + 1min);
    now = eviction.next();
    ASSERT_EQ(describe(eviction.fire(now, wall)), Lines{asked});
  }
}

// Failures other than a refusal by a budget are retried as failed deletions are: first quickly,
// then slowly. The deadline still applies.
TEST(EvictionMode, FailuresAreTriedAgainUntilTheDeadline) {
  TaintEviction eviction(asking(15s));
  const PodFacts pod = make_pod_facts("p", "a");
  (void)eviction.set_node(start, wall, tainted_node("x"), {&pod});
  MonoTime now = start;
  for (const Duration pause : {10ms, 10ms, 10ms, 10ms, 10'000ms}) {
    (void)eviction.settle(now, question, {Errc::unavailable, {}});
    EXPECT_EQ(eviction.next(), now + pause);
    now = eviction.next();
    EXPECT_EQ(describe(eviction.fire(now, wall)), Lines{asked});
  }
  // A conflict of an eviction may concern the budget. It does not mean that the pod was replaced.
  (void)eviction.settle(now, question, {Errc::conflict, {}});
  EXPECT_EQ(eviction.next(), start + 15s);
}

TEST(EvictionMode, AnotherEventDoesNotStartTheDeadlineAnew) {
  TaintEviction eviction(asking(10min));
  PodFacts pod = make_pod_facts("p", "a");
  (void)eviction.set_node(start, wall, tainted_node("x"), {&pod});
  for (int round = 0; round < 10; ++round) {
    (void)eviction.settle(start, question, {Errc::unavailable, {}});
    (void)eviction.fire(eviction.next(), wall);
  }
  const PodFacts before = pod;
  pod.tolerations.push_back(make_toleration("other", {}));
  EXPECT_EQ(eviction.set_pod(start + 1min, wall, &before, pod), Effects{});
}

TEST(EvictionMode, RecoveryEndsTheAsking) {
  TaintEviction eviction(asking(10min));
  const PodFacts pod = make_pod_facts("p", "a");
  (void)eviction.set_node(start, wall, tainted_node("x"), {&pod});
  (void)eviction.settle(start, question, {Errc::exhausted, {}});
  EXPECT_EQ(eviction.set_node(start + 1s, wall, make_facts("a", "True"), {&pod}), Effects{});
  EXPECT_EQ(eviction.next(), MonoTime::max());
}

TEST(EvictionMode, GoneIsDone) {
  TaintEviction eviction(asking(10min));
  const PodFacts pod = make_pod_facts("p", "a");
  (void)eviction.set_node(start, wall, tainted_node("x"), {&pod});
  EXPECT_EQ(eviction.settle(start, question, {Errc::not_found, {}}), Effects{});
  EXPECT_EQ(eviction.next(), MonoTime::max());
}

TEST(EvictionMode, PodsOfADeadNodeAreDeletedWithoutAsking) {
  TaintEviction eviction(asking(10min));
  const PodFacts pod = make_pod_facts("p", "a");
  const NodeFacts dead = tainted_node(std::string(objects::taint_out_of_service));
  EXPECT_EQ(describe(eviction.set_node(start, wall, dead, {&pod})),
            (Lines{eviction_told, "disrupt default/p"}));
}

}  // namespace
}  // namespace holdfast::sync::lifecycle
