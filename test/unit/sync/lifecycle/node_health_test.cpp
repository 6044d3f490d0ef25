#include "sync/lifecycle/node_health.h"

#include "test/unit/sync/lifecycle/describe.h"

namespace holdfast::sync::lifecycle {
namespace {

using namespace std::chrono_literals;

ConditionFacts ready(Truth status, Duration beat, Duration changed = {}) {
  return {status, wall + beat, wall + changed};
}

NodeFacts node_with(const ConditionFacts& condition) {
  NodeFacts node = make_facts("a", "");
  node.condition(ConditionType::ready) = condition;
  return node;
}

TEST(NodeHealth, FirstSightGivesAFullGraceButCountsFromCreationWithoutReady) {
  const NodeFacts posted = make_facts("a", "True");
  const HealthRecord fresh{start + 1h, start + 1h, posted.ready(), {}};
  EXPECT_EQ(first_seen(start + 1h, wall + 1h, posted), fresh);
  const HealthRecord silent{start, start, {}, {}};
  EXPECT_EQ(first_seen(start + 1h, wall + 1h, make_facts("a", "")), silent);
  // A creation time in the future means that our clock is behind. It must not extend the grace
  // period.
  const HealthRecord future{start, start, {}, {}};
  EXPECT_EQ(first_seen(start, wall - 1h, make_facts("a", "")), future);
}

TEST(NodeHealth, ACreationTimeOfAnotherCenturyOnlyCountsAsLongAgo) {
  NodeFacts node = make_facts("a", "");
  node.created = *parse_rfc3339("1678-01-01T00:00:00Z");
  const HealthRecord ancient = first_seen(start, wall, node);
  EXPECT_EQ(ancient.probe, start - 100 * 365 * 24h);
}

// All combinations of upstream's tryUpdateNodeHealth(): the record is of 0 s, the change of 10 s.
TEST(NodeHealth, OnlyAChangedHeartbeatIsABeat) {
  const ConditionFacts none{};
  const ConditionFacts old = ready(Truth::yes, 0s);
  const struct {
    const char* name;
    ConditionFacts before;
    ConditionFacts after;
    Duration probe;
    Duration transition;
  } rows[] = {
      {"no Ready at all", none, none, 0s, 0s},
      {"Ready appeared", none, old, 10s, 10s},
      {"Ready vanished", old, none, 0s, 0s},
      {"the same", old, old, 0s, 0s},
      {"a beat", old, ready(Truth::yes, 5s), 10s, 0s},
      {"a beat with an earlier time", old, ready(Truth::yes, -5s), 10s, 0s},
      {"a beat and a transition", old, ready(Truth::no, 5s, 5s), 10s, 10s},
      {"a transition without a beat", old, ready(Truth::no, 0s, 5s), 0s, 0s},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    HealthRecord record{start, start, row.before, {}};
    observe(record, start + 10s, row.after);
    const HealthRecord expect{start + row.probe, start + row.transition, row.after, {}};
    EXPECT_EQ(record, expect);
  }
}

TEST(NodeHealth, OnlyALaterRenewalIsABeat) {
  HealthRecord record{start, start, {}, {}};
  EXPECT_TRUE(observe_lease(record, start + 1s, wall + 24h));  // A wrong clock, but a new renewal.
  EXPECT_FALSE(observe_lease(record, start + 2s, wall + 24h));
  EXPECT_FALSE(observe_lease(record, start + 3s, wall));
  const HealthRecord expect{start + 1s, start, {}, wall + 24h};
  EXPECT_EQ(record, expect);
  EXPECT_TRUE(observe_lease(record, start + 4s, wall + 25h));
}

TEST(NodeHealth, SilentIsStrictlyLongerThanTheGrace) {
  const Options options;
  const NodeFacts node = node_with(ready(Truth::yes, 0s));
  const HealthRecord record{start, start, node.ready(), {}};
  EXPECT_TRUE(assess(start + 50s, wall, node, record, options).changes.empty());
  EXPECT_FALSE(assess(start + 50s + 1ns, wall, node, record, options).changes.empty());
  EXPECT_TRUE(assess(start + 60s, wall, make_facts("a", ""), record, options).changes.empty());
  EXPECT_FALSE(assess(start + 61s, wall, make_facts("a", ""), record, options).changes.empty());
}

TEST(NodeHealth, WhatIsWrittenKeepsTheHeartbeat) {
  NodeFacts node = node_with(ready(Truth::no, 5s, 3s));
  node.condition(ConditionType::memory) = ready(Truth::unknown, 1s);
  node.condition(ConditionType::disk) = ready(Truth::no, 4s);
  node.condition(ConditionType::network) = ready(Truth::no, 4s);
  const HealthRecord record{start, start, node.ready(), {}};
  const HealthAssessment assessment = assess(start + 1h, wall + 1h, node, record, Options{});
  const auto condition = [](const char* type, WallTime beat, const char* reason,
                            const char* message) {
    NodeCondition one;
    one.type = type;
    one.status = "Unknown";
    one.last_heartbeat_time = beat;
    one.last_transition_time = wall + 1h;
    one.reason = reason;
    one.message = message;
    return one;
  };
  const HealthAssessment expect{
      ready(Truth::no, 5s, 3s),
      ready(Truth::unknown, 5s, 1h),
      {condition("Ready", wall + 5s, "NodeStatusUnknown", "Kubelet stopped posting node status."),
       condition("DiskPressure", wall + 4s, "NodeStatusUnknown",
                 "Kubelet stopped posting node status."),
       condition("PIDPressure", wall, "NodeStatusNeverUpdated",
                 "Kubelet never posted node status.")}};
  EXPECT_EQ(assessment, expect);
}

TEST(NodeHealth, AlreadyUnknownIsNotWrittenAgain) {
  const NodeFacts node = node_with(ready(Truth::unknown, 0s));
  const HealthRecord record{start, start, node.ready(), {}};
  const HealthAssessment expect{node.ready(), node.ready(), {}};
  EXPECT_EQ(assess(start + 1h, wall, node, record, Options{}), expect);
}

TEST(NodeHealth, GoneSinceTheLastBeatOrSinceItSaidSo) {
  const HealthRecord record{start + 1s, start + 2s, {}, {}};
  EXPECT_EQ(gone_since(record, ready(Truth::unknown, 0s)), start + 1s);
  EXPECT_EQ(gone_since(record, ready(Truth::no, 0s)), start + 2s);
}

}  // namespace
}  // namespace holdfast::sync::lifecycle
