// Several replicas and one lease: which of them acts, and when. ElectionSimulation::run() checks
// that never two of them may act at the same time.

#include "test/unit/sync/election/election_simulation.h"

namespace holdfast::sync::election {
namespace {

using namespace election;  // NOLINT(google-build-using-namespace)

TEST(Replicas, OneLeadsAndGoesOnLeading) {
  ElectionSimulation simulation(3);
  simulation.start();
  simulation.run(10min);
  Replica* leader = simulation.leader();
  ASSERT_NE(leader, nullptr);
  EXPECT_EQ(leader->said, std::vector<std::string>{"leads"});
  EXPECT_EQ(simulation.server.holder(), "a");
  EXPECT_EQ(simulation.server.lease()->spec.lease_transitions, 0);
  EXPECT_NEAR(simulation.server.writes, 300, 2) << "one renewal each two seconds";
}

TEST(Replicas, AKilledLeaderIsFollowedAfterItsLease) {
  for (const Duration uptime : {1s, 30s, 31s, 47s}) {
    ElectionSimulation simulation(2);
    simulation.start();
    simulation.run(uptime);
    Replica* dead = simulation.leader();
    dead->asleep = true;
    const Duration gap = simulation.run_until_led(dead);
    EXPECT_GE(gap, 8s) << "the old leader could have acted until then";
    EXPECT_LE(gap, 15s + 4400ms);
    EXPECT_EQ(simulation.server.lease()->spec.lease_transitions, 1);
  }
}

TEST(Replicas, AReleaseHandsOverAtOnce) {
  ElectionSimulation simulation(2);
  simulation.start();
  simulation.run(30s);
  Replica* old = simulation.leader();
  simulation.feed(*old, Stopping{});
  EXPECT_EQ(old->said.back(), "stopped");
  EXPECT_EQ(simulation.server.holder(), "");
  EXPECT_EQ(simulation.server.lease()->spec.lease_duration_seconds, 1);
  simulation.feed(*simulation.replicas[1], LeaseReleased{});
  EXPECT_EQ(simulation.leader(), simulation.replicas[1].get());
  EXPECT_EQ(simulation.server.lease()->spec.lease_transitions, 1);
}

TEST(Replicas, WithoutANotificationTheRetryFindsIt) {
  ElectionSimulation simulation(2);
  simulation.start();
  simulation.run(30s);
  simulation.feed(*simulation.leader(), Stopping{});
  EXPECT_LE(simulation.run_until_led(), 4400ms);
}

TEST(Replicas, ANotificationDoesNotTakeAHeldLease) {
  ElectionSimulation simulation(2);
  simulation.start();
  simulation.run(5s);
  for (int index = 0; index < 10; ++index)
    simulation.feed(*simulation.replicas[1], LeaseReleased{});
  simulation.feed(*simulation.replicas[0], LeaseReleased{});
  EXPECT_EQ(simulation.leader(), simulation.replicas[0].get());
}

TEST(Replicas, ADeletedLeaseStaysWithItsHolder) {
  ElectionSimulation simulation(2);
  simulation.start();
  simulation.run(21s);
  simulation.server.erase();
  simulation.run(1min);
  EXPECT_EQ(simulation.server.holder(), "a");
  EXPECT_EQ(simulation.leader(), simulation.replicas[0].get());
}

TEST(Replicas, AnUnreadableLeaseLetsNobodyIn) {
  ElectionSimulation simulation(2);
  simulation.server.put(Lease{});
  simulation.server.unreadable = true;
  simulation.start();
  simulation.run(1min);
  EXPECT_EQ(simulation.leader(), nullptr);
  EXPECT_EQ(simulation.replicas[0]->said.back(), "warn: spec: expected an object");
  simulation.server.unreadable = false;
  EXPECT_LE(simulation.run_until_led(), 4400ms);
}

TEST(Replicas, AnOutageEndsTheLeadAndSparesWhoComesBackInTime) {
  const struct {
    Duration outage;
    bool survives;
  } rows[] = {{5s, true}, {7500ms, true}, {13s, false}, {10min, false}};
  for (const auto& row : rows) {
    SCOPED_TRACE(format_duration(row.outage));
    ElectionSimulation simulation(2);
    simulation.start();
    simulation.run(30s);
    Replica* leader = simulation.leader();
    simulation.server.down = true;
    simulation.run(row.outage);
    EXPECT_EQ(simulation.leader() == leader, row.outage < 8s)
        << "acts no longer than may_act_until()";
    simulation.server.down = false;
    simulation.run(3s);
    EXPECT_EQ(simulation.leader() == leader, row.survives);
    const bool lost = leader->said.back().starts_with("lost: not renewed within 10s");
    EXPECT_EQ(lost, !row.survives) << leader->said.back();
    EXPECT_LE(simulation.run_until_led(), 20s);
  }
}

// A write whose answer was lost counts once the replica reads the lease again.
TEST(Replicas, LostAnswersAreRecognised) {
  ElectionSimulation simulation(2);
  simulation.server.answers_lost = true;
  simulation.start();
  simulation.run(5s);
  EXPECT_EQ(simulation.leader(), nullptr);
  simulation.server.answers_lost = false;
  simulation.run(5s);
  Replica* leader = simulation.leader();
  ASSERT_NE(leader, nullptr);
  EXPECT_EQ(simulation.server.lease()->spec.lease_transitions, 0);
  simulation.server.answers_lost = true;
  simulation.run(5s);
  simulation.server.answers_lost = false;
  simulation.run(5s);
  EXPECT_EQ(simulation.leader(), leader);
}

// After an hour of suspend the replica's own clock tells it at once that it may not act.
TEST(Replicas, ASleeperWakesUpWithoutTheLead) {
  ElectionSimulation simulation(2);
  simulation.start();
  simulation.run(30s);
  Replica* sleeper = simulation.leader();
  sleeper->asleep = true;
  simulation.run(1h);
  EXPECT_FALSE(sleeper->acts(simulation.now));
  EXPECT_EQ(simulation.leader(), simulation.replicas[1].get());
  sleeper->asleep = false;
  simulation.run(1s);
  EXPECT_EQ(sleeper->said.back(), "lost: the lease is held by b");
}

TEST(Replicas, ASleeperWhomNobodyFollowedGoesOn) {
  ElectionSimulation simulation(1);
  simulation.start();
  simulation.run(30s);
  simulation.replicas[0]->asleep = true;
  simulation.run(1h);
  EXPECT_FALSE(simulation.replicas[0]->acts(simulation.now));
  simulation.replicas[0]->asleep = false;
  simulation.run(1s);
  EXPECT_TRUE(simulation.replicas[0]->acts(simulation.now));
}

// Wall clocks are only written into the lease.
TEST(Replicas, WallClocksMayJump) {
  ElectionSimulation simulation(2);
  simulation.start();
  for (const Duration jump : {1h, -48h, 24h * 365, -1h}) {
    simulation.run(20s);
    simulation.wall += jump;
  }
  simulation.run(1min);
  EXPECT_EQ(simulation.leader(), simulation.replicas[0].get());
  EXPECT_EQ(simulation.server.lease()->spec.lease_transitions, 0);
}

// The lease is deleted once only: a replica that never saw a second holder could not wait for its
// lease to expire.
TEST(Replicas, ManySeedsOfTrouble) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    ElectionSimulation simulation(3);
    simulation.start();
    const std::uint64_t deleted_in = random.below(40);
    for (std::uint64_t turn = 0; turn < 40; ++turn) {
      simulation.server.down = random.below(4) == 0;
      simulation.server.answers_lost = random.below(6) == 0;
      if (turn == deleted_in) simulation.server.erase();
      for (const auto& replica : simulation.replicas) replica->asleep = random.below(6) == 0;
      simulation.run(random.jitter(8s));
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace holdfast::sync::election
