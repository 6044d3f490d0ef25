// The writes that a simulated agent queues, the versions of its cache, and the command `sim`.

#include "agent/lab/sim/outbox.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "agent/lab/sim/commands.h"
#include "agent/lab/sim/scope.h"
#include "platform/fs/file.h"
#include "test/support/scratch_dir.h"

namespace holdfast::agent::lab::sim {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

struct OutboxOfOneNode {
  Engine engine{1};
  Outbox outbox{engine, "a-1"};

  // Queues a status of the pod, whose id is the number of writes so far.
  bool add(const std::string& pod) {
    sync::objects::RequestInfo object;
    object.resource = "pods";
    object.subresource = "status";
    object.namespace_name = "default";
    object.name = pod;
    const sync::autonomy::QueuedWrite write{.verb = "PATCH", .target = "/" + pod};
    return outbox.add(object, write, engine.wall());
  }
  // The id of the next write; 0 if none may be sent.
  std::uint64_t next() {
    const OutboxEntry* entry = outbox.next();
    return entry == nullptr ? 0 : entry->id;
  }
  [[nodiscard]] std::string violated() const {
    return engine.violation() ? engine.violation()->invariant : "";
  }
};

TEST(SimOutbox, TheWritesOfAnObjectAreSentInOrder) {
  OutboxOfOneNode it;
  for (const char* pod : {"a", "a", "b"}) EXPECT_TRUE(it.add(pod));
  EXPECT_EQ(it.next(), 1U);
  EXPECT_EQ(it.next(), 3U) << "another object does not wait";
  EXPECT_EQ(it.next(), 0U) << "the second write waits for the first";
  it.outbox.requeue(1, true);
  EXPECT_EQ(it.next(), 1U);
  it.outbox.settle(1, "applied");
  EXPECT_EQ(it.next(), 2U);
  EXPECT_EQ(it.violated(), "");
}

TEST(SimOutbox, SurvivesTheEndOfTheProcessAndRefusesWhenTheDiskIsFull) {
  OutboxOfOneNode it;
  EXPECT_TRUE(it.add("a"));
  EXPECT_EQ(it.next(), 1U);
  it.outbox.recover();
  EXPECT_TRUE(it.outbox.entries().at(0).maybe_sent);
  EXPECT_EQ(it.next(), 1U);
  it.outbox.set_full(true);
  EXPECT_FALSE(it.add("b"));
  EXPECT_EQ(it.outbox.accepted(), 1U);
  EXPECT_EQ(it.violated(), "");
}

TEST(SimOutbox, AWriteThatEndsTwiceIsAViolation) {
  OutboxOfOneNode it;
  EXPECT_TRUE(it.add("a"));
  EXPECT_EQ(it.next(), 1U);
  it.outbox.settle(1, "applied");
  EXPECT_EQ(it.violated(), "");
  it.outbox.settle(1, "applied");
  EXPECT_EQ(it.violated(), "each queued write ends once");
}

// The cache of a node gets a list that is older than what it has.
TEST(SimScope, AVersionThatDecreasesIsAViolation) {
  for (const bool is_older : {false, true}) {
    Engine engine(1);
    Server server(engine);
    Traffic traffic(engine);
    Link link(engine, std::make_shared<Line>(), LinkProfile{});
    NodeClient client(engine, server, traffic, link, Actor::edge);
    Scope scope(engine, client, "a-1", ScopeOf::node, [] {});
    const sync::wire::ScopeKind kind{.kind = "Node", .api_version = "v1"};
    const std::uint64_t version = is_older ? server.version() + 1 : server.version();
    (void)scope.cache().replace({}, version, kind);
    scope.start();
    engine.run_until(engine.now() + seconds(5));
    EXPECT_TRUE(is_older || scope.is_watching());
    EXPECT_EQ(engine.violation() ? engine.violation()->invariant : "",
              is_older ? "versions of a scope never decrease" : "");
    scope.stop();
  }
}

// One second before the end of the scenario a node's link is healed.
TEST(SimCommand, FailsIfTheClusterDoesNotRecoverInTime) {
  const test::ScratchDir scratch;
  SimSettings settings;
  settings.scenario = (scratch.path() / "late.yaml").string();
  settings.output = "json";
  ASSERT_TRUE(fs::atomic_write(settings.scenario,
                               "name: late\nduration: 10m\n"
                               "fleet: {sites: [{name: a, nodes: 2}]}\n"
                               "events: [{at: 1m, cut: a, for: 8m59s}]\n"));
  const auto plays = [&settings](Duration converge_within) {
    settings.converge_within = converge_within;
    const auto holds = run_sim(settings);
    EXPECT_TRUE(holds) << (holds ? "" : holds.error().what);
    return holds.value_or(false);
  };
  EXPECT_TRUE(plays(minutes(10)));
  EXPECT_FALSE(plays(Duration::zero()));
}

}  // namespace
}  // namespace holdfast::agent::lab::sim
