// Several replicas and one lease: which of them acts, and when. World::run() checks that never two
// of them may act at the same time.

#include "test/unit/sync/election/election_world.h"

namespace holdfast::sync::election {
namespace {

using namespace election;  // NOLINT(google-build-using-namespace)

TEST(Replicas, OneLeadsAndGoesOnLeading) {
  World world(3);
  world.start();
  world.run(10min);
  Replica* leader = world.leader();
  ASSERT_NE(leader, nullptr);
  EXPECT_EQ(leader->said, std::vector<std::string>{"leads"});
  EXPECT_EQ(world.server.holder(), "a");
  EXPECT_EQ(world.server.lease()->spec.lease_transitions, 0);
  EXPECT_NEAR(world.server.writes, 300, 2) << "one renewal each two seconds";
}

TEST(Replicas, AKilledLeaderIsFollowedAfterItsLease) {
  for (const Duration uptime : {1s, 30s, 31s, 47s}) {
    World world(2);
    world.start();
    world.run(uptime);
    Replica* dead = world.leader();
    dead->asleep = true;
    const Duration gap = world.run_until_led(dead);
    EXPECT_GE(gap, 8s) << "the old leader could have acted until then";
    EXPECT_LE(gap, 15s + 4400ms);
    EXPECT_EQ(world.server.lease()->spec.lease_transitions, 1);
  }
}

TEST(Replicas, AReleaseHandsOverAtOnce) {
  World world(2);
  world.start();
  world.run(30s);
  Replica* old = world.leader();
  world.feed(*old, Stopping{});
  EXPECT_EQ(old->said.back(), "stopped");
  EXPECT_EQ(world.server.holder(), "");
  EXPECT_EQ(world.server.lease()->spec.lease_duration_seconds, 1);
  world.feed(*world.replicas[1], Nudged{});
  EXPECT_EQ(world.leader(), world.replicas[1].get());
  EXPECT_EQ(world.server.lease()->spec.lease_transitions, 1);
}

TEST(Replicas, WithoutANudgeTheRetryFindsIt) {
  World world(2);
  world.start();
  world.run(30s);
  world.feed(*world.leader(), Stopping{});
  EXPECT_LE(world.run_until_led(), 4400ms);
}

TEST(Replicas, ANudgeDoesNotTakeWhatIsHeld) {
  World world(2);
  world.start();
  world.run(5s);
  for (int index = 0; index < 10; ++index) world.feed(*world.replicas[1], Nudged{});
  world.feed(*world.replicas[0], Nudged{});
  EXPECT_EQ(world.leader(), world.replicas[0].get());
}

TEST(Replicas, ADeletedLeaseStaysWithItsHolder) {
  World world(2);
  world.start();
  world.run(21s);
  world.server.erase();
  world.run(1min);
  EXPECT_EQ(world.server.holder(), "a");
  EXPECT_EQ(world.leader(), world.replicas[0].get());
}

TEST(Replicas, AnUnreadableLeaseLetsNobodyIn) {
  World world(2);
  world.server.put(Lease{});
  world.server.unreadable = true;
  world.start();
  world.run(1min);
  EXPECT_EQ(world.leader(), nullptr);
  EXPECT_EQ(world.replicas[0]->said.back(), "warn: spec: expected an object");
  world.server.unreadable = false;
  EXPECT_LE(world.run_until_led(), 4400ms);
}

TEST(Replicas, AnOutageEndsTheLeadAndSparesWhoComesBackInTime) {
  const struct {
    Duration outage;
    bool survives;
  } rows[] = {{5s, true}, {7500ms, true}, {13s, false}, {10min, false}};
  for (const auto& row : rows) {
    SCOPED_TRACE(format_duration(row.outage));
    World world(2);
    world.start();
    world.run(30s);
    Replica* leader = world.leader();
    world.server.down = true;
    world.run(row.outage);
    EXPECT_EQ(world.leader() == leader, row.outage < 8s) << "acts no longer than may_act_until()";
    world.server.down = false;
    world.run(3s);
    EXPECT_EQ(world.leader() == leader, row.survives);
    const bool lost = leader->said.back().starts_with("lost: not renewed within 10s");
    EXPECT_EQ(lost, !row.survives) << leader->said.back();
    EXPECT_LE(world.run_until_led(), 20s);
  }
}

// A write whose answer was lost counts once the replica reads the lease again.
TEST(Replicas, LostAnswersAreRecognised) {
  World world(2);
  world.server.answers_lost = true;
  world.start();
  world.run(5s);
  EXPECT_EQ(world.leader(), nullptr);
  world.server.answers_lost = false;
  world.run(5s);
  Replica* leader = world.leader();
  ASSERT_NE(leader, nullptr);
  EXPECT_EQ(world.server.lease()->spec.lease_transitions, 0);
  world.server.answers_lost = true;
  world.run(5s);
  world.server.answers_lost = false;
  world.run(5s);
  EXPECT_EQ(world.leader(), leader);
}

// After an hour of suspend the replica's own clock tells it at once that it may not act.
TEST(Replicas, ASleeperWakesUpWithoutTheLead) {
  World world(2);
  world.start();
  world.run(30s);
  Replica* sleeper = world.leader();
  sleeper->asleep = true;
  world.run(1h);
  EXPECT_FALSE(sleeper->acts(world.now));
  EXPECT_EQ(world.leader(), world.replicas[1].get());
  sleeper->asleep = false;
  world.run(1s);
  EXPECT_EQ(sleeper->said.back(), "lost: the lease is held by b");
}

TEST(Replicas, ASleeperWhomNobodyFollowedGoesOn) {
  World world(1);
  world.start();
  world.run(30s);
  world.replicas[0]->asleep = true;
  world.run(1h);
  EXPECT_FALSE(world.replicas[0]->acts(world.now));
  world.replicas[0]->asleep = false;
  world.run(1s);
  EXPECT_TRUE(world.replicas[0]->acts(world.now));
}

// Wall clocks are only written into the lease.
TEST(Replicas, WallClocksMayJump) {
  World world(2);
  world.start();
  for (const Duration jump : {1h, -48h, 24h * 365, -1h}) {
    world.run(20s);
    world.wall += jump;
  }
  world.run(1min);
  EXPECT_EQ(world.leader(), world.replicas[0].get());
  EXPECT_EQ(world.server.lease()->spec.lease_transitions, 0);
}

// The lease is deleted once only: a replica that never saw a second holder could not wait for its
// lease to expire.
TEST(Replicas, ManySeedsOfTrouble) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    World world(3);
    world.start();
    const std::uint64_t deleted_in = random.below(40);
    for (std::uint64_t turn = 0; turn < 40; ++turn) {
      world.server.down = random.below(4) == 0;
      world.server.answers_lost = random.below(6) == 0;
      if (turn == deleted_in) world.server.erase();
      for (const auto& replica : world.replicas) replica->asleep = random.below(6) == 0;
      world.run(random.jitter(8s));
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace holdfast::sync::election
