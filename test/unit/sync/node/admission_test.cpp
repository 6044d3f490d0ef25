// Admission on the node, as far as the golden cases do not cover it.

#include "sync/node/admission.h"

#include "sync/node/critical.h"
#include "sync/objects/qos.h"
#include "test/unit/sync/schedule/cluster_fixture.h"

namespace holdfast::sync::node {
namespace {

using schedule::Symbols;
using schedule::test::make_pod;

TEST(Critical, OrdinaryPodsYieldToCriticalOnesAndToHigherPriority) {
  const Pod critical = make_pod("c", 2'000'000'000, "1");
  const Pod ordinary = make_pod("o", 5, "1");
  Pod without = make_pod("w", 0, "1");
  without.spec.priority.reset();
  EXPECT_TRUE(may_preempt(critical, ordinary));
  EXPECT_TRUE(may_preempt(critical, without));
  EXPECT_FALSE(may_preempt(critical, critical));
  EXPECT_FALSE(may_preempt(ordinary, without));
  EXPECT_TRUE(may_preempt(make_pod("n", 2'000'001'000, "1"), critical));
}

TEST(Qos, AmountsThatCannotBeReadCountAsNone) {
  Pod pod = make_pod("p", 0, "1");
  pod.spec.containers[0].resources.requests.set("cpu", "lots");
  EXPECT_EQ(objects::qos_class(pod), objects::Qos::best_effort);
  pod.status.qos_class = "Guaranteed";
  EXPECT_EQ(objects::qos_class(pod), objects::Qos::guaranteed);
}

TEST(Admission, ACriticalPodThatCannotBeHelpedSaysWhatIsMissing) {
  Symbols symbols;
  const Pod pod = make_pod("c", 2'000'000'000, "500");
  const Pods running = {schedule::view_of(make_pod("small", 0, "100", "n"), symbols)};
  const auto admission =
      admit_after_failure(pod, running, {ResourceFailure{"cpu", 500, 1000, 1000}}, symbols);
  EXPECT_FALSE(admission.admit);
  EXPECT_EQ(admission.reason, "UnexpectedAdmissionError");
  EXPECT_EQ(admission.message,
            "Unexpected error while attempting to recover from admission failure: preemption: "
            "error finding a set of pods to preempt: no set of running pods found to reclaim "
            "resources: [(res: cpu, q: 400), ]");
}

TEST(Admission, AnOrdinaryPodIsToldItsFirstFailure) {
  Symbols symbols;
  const auto admission = admit_after_failure(make_pod("p", 0, "500"), {},
                                             {ResourceFailure{"memory", 5, 7, 10}}, symbols);
  EXPECT_EQ(admission.reason, "OutOfmemory");
  EXPECT_EQ(admission.message,
            "Node didn't have enough resource: memory, requested: 5, used: 7, capacity: 10");
}

TEST(Victims, WhatTheyFreeIsEnough) {
  Random random(3);
  for (int round = 0; round < 2000; ++round) {
    Symbols symbols;
    Pods running;
    const std::uint64_t count = random.below(8);
    for (std::uint64_t i = 0; i < count; ++i) {
      Pod pod = make_pod("p" + std::to_string(i), 0, std::to_string(random.below(5) * 100), "n");
      if (random.below(3) == 0) pod.spec.containers[0].resources.requests = {};
      running.push_back(schedule::view_of(pod, symbols));
    }
    const Requirements missing = {{"cpu", static_cast<std::int64_t>(1 + random.below(1000))},
                                  {"pods", static_cast<std::int64_t>(1 + random.below(3))}};
    const Pod critical = make_pod("c", 2'000'000'000, "1");
    const auto found = victims(critical, running, missing, symbols);
    EXPECT_EQ(found.has_value(), subtract(missing, running, symbols).empty()) << round;
    if (!found) continue;
    EXPECT_TRUE(subtract(missing, *found, symbols).empty()) << round;
  }
}

}  // namespace
}  // namespace holdfast::sync::node
