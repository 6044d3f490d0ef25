#include "sync/lifecycle/taint_eviction.h"

#include "sync/objects/names.h"
#include "test/unit/sync/lifecycle/describe.h"

namespace holdfast::sync::lifecycle {
namespace {

using namespace std::chrono_literals;

NodeFacts tainted_node(std::vector<std::string> keys) {
  NodeFacts node = make_facts("a", "Unknown");
  for (const std::string& key : keys) node.taints.push_back(make_no_execute(key));
  return node;
}

PodFacts tolerating(std::vector<Toleration> tolerations) {
  PodFacts pod = make_pod_facts("p", "a");
  pod.tolerations = std::move(tolerations);
  return pod;
}

Options without_condition() {
  Options options;
  options.disruption_condition = false;
  return options;
}

const std::string told = "event Pod/p Normal TaintManagerEviction";
const std::string gone = "delete default/p uid-p";
const DeletePod deletion{{"default", "p", "uid-p"}};

TEST(TaintEviction, TheConditionIsWrittenBeforeTheDeletion) {
  TaintEviction eviction{Options{}};
  const PodFacts pod = tolerating({});
  EXPECT_EQ(eviction.set_node(start, wall, tainted_node({"x"}), {&pod}),
            (Effects{pod_event(EventSource::taint_eviction, {"default", "p", ""}, false,
                               "TaintManagerEviction", "Marking for deletion Pod default/p"),
                     MarkPodDisrupted{{"default", "p", "uid-p"}, wall}}));
  const MarkPodDisrupted marking{{"default", "p", "uid-p"}, wall};
  EXPECT_EQ(eviction.settle(start, marking, {}), Effects{deletion});
  EXPECT_EQ(eviction.settle(start, deletion, {}), Effects{});
  EXPECT_EQ(eviction.next(), MonoTime::max());
}

TEST(TaintEviction, FailuresAreTriedFiveTimesAtOnceAndThenEverMoreSlowly) {
  TaintEviction eviction(without_condition());
  const PodFacts pod = tolerating({});
  MonoTime now = start;
  EXPECT_EQ(describe(eviction.set_node(now, wall, tainted_node({"x"}), {&pod})),
            (Lines{told, gone}));
  const std::vector<Duration> pauses{10ms, 10ms, 10ms, 10ms, 10s,  20s,
                                     40s,  80s,  160s, 5min, 5min, 5min};
  for (const Duration pause : pauses) {
    EXPECT_EQ(eviction.settle(now, deletion, {Errc::unavailable, {}}), Effects{});
    EXPECT_EQ(eviction.next(), now + pause);
    now = eviction.next();
    EXPECT_EQ(describe(eviction.fire(now, wall)), Lines{gone});
  }
  EXPECT_EQ(eviction.settle(now, deletion, {}), Effects{});
  EXPECT_EQ(eviction.next(), MonoTime::max());
}

TEST(TaintEviction, AFailedDeletionIsNotWantedAnyMoreOnceTheTaintIsGone) {
  TaintEviction eviction(without_condition());
  const PodFacts pod = tolerating({});
  (void)eviction.set_node(start, wall, tainted_node({"x"}), {&pod});
  (void)eviction.settle(start, deletion, {Errc::unavailable, {}});
  EXPECT_EQ(eviction.set_node(start, wall, tainted_node({}), {&pod}), Effects{});
  EXPECT_EQ(eviction.next(), MonoTime::max());
  // A late outcome of the deletion has no effect either.
  EXPECT_EQ(eviction.settle(start, deletion, {Errc::unavailable, {}}), Effects{});
  EXPECT_EQ(eviction.next(), MonoTime::max());
}

TEST(TaintEviction, GoneOrReplacedIsDone) {
  for (const Errc error : {Errc::not_found, Errc::conflict}) {
    TaintEviction eviction(without_condition());
    const PodFacts pod = tolerating({});
    (void)eviction.set_node(start, wall, tainted_node({"x"}), {&pod});
    EXPECT_EQ(eviction.settle(start, deletion, {error, {}}), Effects{});
    EXPECT_EQ(eviction.next(), MonoTime::max());
  }
}

TEST(TaintEviction, AChangeWhileADeletionIsUnderWayDoesNotRepeatIt) {
  TaintEviction eviction(without_condition());
  const PodFacts pod = tolerating({});
  (void)eviction.set_node(start, wall, tainted_node({"x"}), {&pod});
  EXPECT_EQ(eviction.set_node(start, wall, tainted_node({"x", "y"}), {&pod}), Effects{});
}

// Kubernetes issue 90794.
TEST(TaintEviction, ATimerEndsWithTheTaintThatStartedIt) {
  const std::string not_ready(objects::taint_not_ready);
  const std::string unreachable(objects::taint_unreachable);
  struct Change {
    Duration at;
    std::vector<std::string> taints;
  };
  struct Case {
    const char* what;
    std::vector<Toleration> tolerations;
    std::vector<Change> changes;
    std::optional<Duration> ends;      // when the pod must go in the end
    std::optional<Duration> upstream;  // with Options::timers_outlive_taints
  };
  const Case cases[] = {
      {"another taint is left, which is tolerated for longer",
       {make_toleration(not_ready, 30), make_toleration("dedicated", 7200)},
       {{0s, {not_ready}}, {5s, {not_ready, "dedicated"}}, {8s, {"dedicated"}}},
       7205s,
       30s},
      {"a taint that was there first",
       {make_toleration(not_ready, 30), make_toleration("dedicated", 7200)},
       {{0s, {"dedicated"}}, {5s, {not_ready, "dedicated"}}, {8s, {"dedicated"}}},
       7200s,
       7200s},
      {"a taint that is tolerated for ever",
       {make_toleration(not_ready, 30), make_toleration("dedicated", {})},
       {{0s, {not_ready, "dedicated"}}, {8s, {"dedicated"}}},
       {},
       {}},
      {"a taint that is tolerated for less time is left: the running timer is not shortened",
       {make_toleration(not_ready, 30), make_toleration("dedicated", 10)},
       {{0s, {not_ready}}, {8s, {not_ready, "dedicated"}}, {9s, {"dedicated"}}},
       30s,
       30s},
      {"the other way of being lost, tolerated for as long",
       {make_toleration(not_ready, 300), make_toleration(unreachable, 300)},
       {{0s, {not_ready}}, {60s, {unreachable}}},
       300s,
       300s},
      {"the other way of being lost, in two steps",
       {make_toleration(not_ready, 300), make_toleration(unreachable, 300)},
       {{0s, {not_ready}}, {60s, {not_ready, unreachable}}, {61s, {unreachable}}},
       300s,
       300s},
      {"nothing is left", {make_toleration(not_ready, 30)}, {{0s, {not_ready}}, {8s, {}}}, {}, {}},
  };
  for (const Case& c : cases) {
    for (const bool outlives : {false, true}) {
      SCOPED_TRACE(std::string(c.what) + (outlives ? ", upstream" : ""));
      Options options = without_condition();
      options.timers_outlive_taints = outlives;
      TaintEviction eviction(options);
      const PodFacts pod = tolerating(c.tolerations);
      for (const Change& change : c.changes) {
        (void)eviction.set_node(start + change.at, wall, tainted_node(change.taints), {&pod});
        eviction.check_invariants();
      }
      const auto& ends = outlives ? c.upstream : c.ends;
      EXPECT_EQ(eviction.next(), ends ? start + *ends : MonoTime::max());
      if (!ends) continue;
      EXPECT_EQ(eviction.fire(start + *ends - 1ms, wall), Effects{});
      EXPECT_EQ(describe(eviction.fire(start + *ends, wall)), (Lines{told, gone}));
    }
  }
}

TEST(TaintEviction, AMovedTimerIsToldAsACancelledOne) {
  TaintEviction eviction(without_condition());
  const PodFacts pod = tolerating({make_toleration("x", 30), make_toleration("y", 60)});
  (void)eviction.set_node(start, wall, tainted_node({"x", "y"}), {&pod});
  EXPECT_EQ(eviction.set_node(start + 5s, wall, tainted_node({"y"}), {&pod}),
            (Effects{pod_event(EventSource::taint_eviction, {"default", "p", ""}, false,
                               "TaintManagerEviction", "Cancelling deletion of Pod default/p")}));
  EXPECT_EQ(eviction.next(), start + 60s);
}

// Withholding ends every timer and every eviction of a withheld taint, upstream's way or not.
TEST(TaintEviction, AWithheldTaintLeavesNothingBehind) {
  const std::string unreachable(objects::taint_unreachable);
  for (const bool outlives : {false, true}) {
    for (const Duration tolerated : {0s, 30s}) {
      SCOPED_TRACE(tolerated.count());
      Options options = without_condition();
      options.timers_outlive_taints = outlives;
      TaintEviction eviction(options);
      const PodFacts pod = tolerating(
          {make_toleration(unreachable, tolerated / 1s), make_toleration("dedicated", 7200)});
      (void)eviction.set_node(start, wall, tainted_node({unreachable, "dedicated"}), {&pod});
      if (tolerated == Duration::zero()) {
        EXPECT_FALSE(eviction.spares(pod));
        (void)eviction.settle(start, deletion, {Errc::unavailable, {}});
        EXPECT_EQ(eviction.next(), start + 10ms) << "it is tried again";
      }
      (void)eviction.withhold(start + 8s, wall, "a", true, {&pod});
      eviction.check_invariants();
      EXPECT_TRUE(eviction.spares(pod)) << "what was decided before is not sent any more";
      EXPECT_EQ(eviction.next(), start + 7200s);
      (void)eviction.withhold(start + 10s, wall, "a", false, {&pod});
      EXPECT_FALSE(eviction.spares(pod));
    }
  }
}

// An earlier leader has deleted the pod and said so.
TEST(TaintEviction, APodThatIsGoingIsNotToldAgain) {
  TaintEviction eviction(without_condition());
  PodFacts pod = tolerating({});
  pod.terminating = true;
  EXPECT_EQ(describe(eviction.set_node(start, wall, tainted_node({"x"}), {&pod})), Lines{gone});
}

// On a node from which evictions are withheld, an operator's taint removes pods that run.
TEST(TaintEviction, APodThatHasEndedStaysOnAWithheldNode) {
  TaintEviction eviction(without_condition());
  PodFacts pod = tolerating({});
  pod.ended = true;
  (void)eviction.set_node(start, wall, tainted_node({}), {&pod});
  (void)eviction.withhold(start, wall, "a", true, {&pod});
  EXPECT_EQ(eviction.set_node(start, wall, tainted_node({"x"}), {&pod}), Effects{});
  EXPECT_EQ(describe(eviction.withhold(start, wall, "a", false, {&pod})), (Lines{told, gone}));
}

// A StatefulSet creates its pods again with the same names.
TEST(TaintEviction, APodOfTheSameNameIsAnother) {
  TaintEviction eviction(without_condition());
  const PodFacts pod = tolerating({make_toleration("x", 60)});
  (void)eviction.set_node(start, wall, tainted_node({"x"}), {&pod});
  PodFacts again = pod;
  again.uid = "another";
  EXPECT_EQ(describe(eviction.set_pod(start + 10s, wall, &pod, again)), Lines{told});
  EXPECT_EQ(*eviction.scheduled("default/p"),
            (pacing::TimedQueue::Entry{start + 10s, start + 70s}));
  EXPECT_EQ(describe(eviction.fire(start + 70s, wall)), (Lines{told, "delete default/p another"}));
}

TEST(TaintEviction, OwnTaintsAreWithheldForeignOnesAreNot) {
  TaintEviction eviction(without_condition());
  const PodFacts pod = tolerating({make_toleration(std::string(objects::taint_unreachable), 60)});
  const NodeFacts lost = tainted_node({std::string(objects::taint_unreachable)});
  (void)eviction.set_node(start, wall, lost, {&pod});
  EXPECT_NE(eviction.scheduled("default/p"), nullptr);
  EXPECT_EQ(describe(eviction.withhold(start, wall, "a", true, {&pod})), Lines{told});
  EXPECT_EQ(eviction.scheduled("default/p"), nullptr);
  EXPECT_EQ(eviction.tainted_nodes(), Lines{});
  const NodeFacts both = tainted_node({std::string(objects::taint_unreachable), "x"});
  EXPECT_EQ(describe(eviction.set_node(start, wall, both, {&pod})), (Lines{told, gone}));
}

TEST(TaintEviction, WithholdingEndsTheClockStartsAnew) {
  TaintEviction eviction(without_condition());
  const PodFacts pod = tolerating({make_toleration(std::string(objects::taint_unreachable), 60)});
  (void)eviction.set_node(start, wall, tainted_node({}), {&pod});
  (void)eviction.withhold(start, wall, "a", true, {&pod});
  (void)eviction.set_node(start, wall, tainted_node({std::string(objects::taint_unreachable)}),
                          {&pod});
  EXPECT_EQ(eviction.scheduled("default/p"), nullptr);
  (void)eviction.withhold(start + 1h, wall, "a", false, {&pod});
  EXPECT_EQ(*eviction.scheduled("default/p"),
            (pacing::TimedQueue::Entry{start + 1h, start + 1h + 60s}));
}

TEST(TaintEviction, AnEvictionThatIsWithdrawnLeavesNoMark) {
  const MarkPodDisrupted marking{{"default", "p", "uid-p"}, wall};
  const Lines stays{"stays default/p"};
  const std::string lost(objects::taint_unreachable);
  const PodFacts pod = tolerating({});
  PodFacts marked = pod;
  marked.disruption_marked = true;
  {  // The deletion fails, and the taint goes.
    TaintEviction eviction{Options{}};
    (void)eviction.set_node(start, wall, tainted_node({"x"}), {&pod});
    (void)eviction.settle(start, marking, {});
    EXPECT_EQ(eviction.set_pod(start, wall, &pod, marked), Effects{});
    (void)eviction.settle(start, deletion, {Errc::unavailable, {}});
    const Effects follows = eviction.set_node(start + 1s, wall, tainted_node({}), {&marked});
    EXPECT_EQ(describe(follows), stays);
    EXPECT_EQ(eviction.settle(start + 1s, follows.front(), {}), Effects{});
    EXPECT_EQ(eviction.set_pod(start + 1s, wall, &marked, marked), Effects{}) << "once";
  }
  {  // The node becomes autonomous.
    TaintEviction eviction{Options{}};
    (void)eviction.set_node(start, wall, tainted_node({lost}), {&marked});
    EXPECT_EQ(describe(eviction.withhold(start, wall, "a", true, {&marked})), stays);
  }
  {  // The mark is on its way when the taint goes.
    TaintEviction eviction{Options{}};
    (void)eviction.set_node(start, wall, tainted_node({"x"}), {&pod});
    EXPECT_EQ(eviction.set_node(start, wall, tainted_node({}), {&pod}), Effects{});
    EXPECT_EQ(eviction.settle(start, marking, {}), Effects{});
    EXPECT_EQ(describe(eviction.set_pod(start, wall, &pod, marked)), stays);
  }
  {  // A new leader finds the mark of the last one.
    TaintEviction eviction{Options{}};
    EXPECT_EQ(eviction.set_pod(start, wall, nullptr, marked), Effects{}) << "the node is not known";
    EXPECT_EQ(describe(eviction.set_node(start, wall, tainted_node({}), {&marked})), stays);
    TaintEviction goes_on{Options{}};
    EXPECT_EQ(describe(goes_on.set_node(start, wall, tainted_node({"x"}), {&marked})),
              (Lines{told, gone}));
  }
  for (const auto change : {+[](PodFacts& each) { each.terminating = true; },
                            +[](PodFacts& each) { each.ended = true; }}) {
    PodFacts going = marked;
    change(going);
    TaintEviction eviction{Options{}};
    EXPECT_EQ(eviction.set_node(start, wall, tainted_node({}), {&going}), Effects{});
  }
}

TEST(TaintEviction, ABillionSecondsAreWaitedFor) {
  TaintEviction eviction(without_condition());
  const PodFacts pod = tolerating({make_toleration("x", 1'000'000'000)});
  EXPECT_EQ(eviction.set_node(start, wall, tainted_node({"x"}), {&pod}), Effects{});
  EXPECT_EQ(eviction.next(), start + 1'000'000'000s);
}

TEST(TaintEviction, ManyTaintsAndPodsWithoutNodeAreFine) {
  TaintEviction eviction(without_condition());
  std::vector<std::string> keys;
  for (int index = 0; index < 10'000; ++index) keys.push_back("k" + std::to_string(index));
  Toleration all = make_toleration("", {});
  const PodFacts pod = tolerating({all});
  EXPECT_EQ(eviction.set_node(start, wall, tainted_node(keys), {&pod}), Effects{});
  PodFacts unscheduled = make_pod_facts("u", "");
  EXPECT_EQ(eviction.set_pod(start, wall, nullptr, unscheduled), Effects{});
  EXPECT_EQ(eviction.remove_pod(unscheduled), Effects{});
}

}  // namespace
}  // namespace holdfast::sync::lifecycle
