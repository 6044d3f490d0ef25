// The link's state machine in virtual time.

#include "sync/autonomy/link.h"

namespace holdfast::sync::autonomy {
namespace {

constexpr MonoTime start{100s};
const LinkConfig config{
    .probe_interval = 10s, .probe_deadline = 1s, .probe_backoff_min = 2s, .probe_backoff_max = 8s};

struct Bench {
  Random random{1};
  MonoTime now = start;
  Link link{config, random, now};

  bool record(Evidence evidence) { return link.record(now, now, evidence, "why"); }
  // Connected since `now`.
  void connect() {
    link.probing(now);
    EXPECT_TRUE(record(Evidence::answered));
    EXPECT_EQ(link.state(), LinkState::rejoining);
    link.renewed(now, now);
    link.rejoined(now);
    EXPECT_EQ(link.state(), LinkState::connected);
  }
  // Goes offline at `now`, with the first probe scheduled.
  void cut() {
    connect();
    now += 1s;
    EXPECT_TRUE(record(Evidence::failed));
    now += 1s;
    EXPECT_TRUE(record(Evidence::failed));
    EXPECT_EQ(link.state(), LinkState::offline);
  }
};

TEST(Link, BeginsOfflineWithAProbeDueAtOnce) {
  Bench bench;
  EXPECT_EQ(to_string(bench.link.state()), "offline");
  EXPECT_EQ(bench.link.reason(), "not tried yet");
  EXPECT_EQ(bench.link.probe_due(), start);
  EXPECT_FALSE(bench.link.allows_reads());
  bench.link.probing(start);
  EXPECT_EQ(bench.link.probe_due(), start + 1s);
}

TEST(Link, TheFirstRejoinIsDelayedNoLongerThanTheApiServerWasOutOfReach) {
  Bench bench;
  EXPECT_EQ(bench.link.rejoin_delay_max(start, 3s), 0s);
  EXPECT_EQ(bench.link.rejoin_delay_max(start + 20ms, 3s), 20ms);
  EXPECT_EQ(bench.link.rejoin_delay_max(start + 1h, 3s), 3s);
  bench.cut();
  EXPECT_EQ(bench.link.rejoin_delay_max(bench.now + 20ms, 3s), 3s) << "after an outage";
}

TEST(Link, RefusedAndSwallowedAreTwoMissesAway) {
  Bench bench;
  bench.connect();
  EXPECT_EQ(bench.link.probe_due(), start + 10s);
  bench.now += 5s;
  const MonoTime asked = bench.now;
  bench.now += 2s;
  EXPECT_TRUE(bench.link.record(bench.now, asked, Evidence::failed, "GET: deadline passed"));
  EXPECT_EQ(bench.link.state(), LinkState::suspect);
  EXPECT_EQ(bench.link.reason(), "GET: deadline passed");
  EXPECT_EQ(bench.link.since(), bench.now);
  EXPECT_EQ(bench.link.probe_due(), bench.now) << "a probe is due at once";
  EXPECT_FALSE(bench.link.allows_reads());
  // What was under way at the same time fails, too: no news.
  EXPECT_FALSE(bench.link.record(bench.now + 1s, asked, Evidence::failed, "another"));
  bench.link.probing(bench.now);
  EXPECT_EQ(bench.link.probe_due(), bench.now + 1s);
  const MonoTime probed = bench.now;
  bench.now += 1s;
  EXPECT_TRUE(bench.link.record(bench.now, probed, Evidence::failed, "probe"));
  EXPECT_EQ(bench.link.state(), LinkState::offline);
}

TEST(Link, OneMissIsForgivenByAnAnswer) {
  Bench bench;
  bench.connect();
  for (int round = 0; round < 5; ++round) {
    bench.now += 1s;
    EXPECT_TRUE(bench.record(Evidence::failed));
    EXPECT_EQ(bench.link.state(), LinkState::suspect);
    bench.now += 1s;
    EXPECT_TRUE(bench.record(Evidence::answered));
    EXPECT_EQ(bench.link.state(), LinkState::connected);
  }
}

TEST(Link, AFailureFromBeforeTheConnectionIsOldNews) {
  Bench bench;
  const MonoTime asked = bench.now;
  bench.now += 1s;
  bench.connect();
  EXPECT_FALSE(bench.link.record(bench.now + 1s, asked, Evidence::failed, "old"));
  EXPECT_EQ(bench.link.state(), LinkState::connected);
}

TEST(Link, OverloadNeitherBreaksNorHeals) {
  Bench bench;
  bench.connect();
  bench.now += 1s;
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(bench.record(Evidence::overloaded));
  EXPECT_EQ(bench.link.state(), LinkState::connected);
  EXPECT_TRUE(bench.record(Evidence::failed));
  EXPECT_FALSE(bench.record(Evidence::overloaded));
  EXPECT_EQ(bench.link.state(), LinkState::suspect);
  bench.now += 1s;
  EXPECT_TRUE(bench.record(Evidence::failed));
  EXPECT_FALSE(bench.record(Evidence::overloaded));
  EXPECT_EQ(bench.link.state(), LinkState::offline);
}

TEST(Link, AnOverloadedCloudIsGrantedTheTimeItAsksFor) {
  Bench bench;
  const auto overload = [&bench](Duration retry_after) {
    return bench.link.record(bench.now, bench.now, Evidence::overloaded, "answered 503",
                             retry_after);
  };
  bench.connect();
  EXPECT_EQ(bench.link.overloaded_since(), std::nullopt);
  bench.now += 9s;
  EXPECT_FALSE(overload(0s));
  EXPECT_EQ(bench.link.overloaded_since(), start + 9s);
  EXPECT_EQ(bench.link.probe_due(), start + 10s) << "there was no Retry-After";
  EXPECT_FALSE(overload(5s));
  EXPECT_EQ(bench.link.probe_due(), start + 14s);
  EXPECT_FALSE(overload(1h));
  EXPECT_EQ(bench.link.probe_due(), start + 29s) << "at most retry_after_max";
  bench.now += 10s;
  bench.link.probing(bench.now);
  EXPECT_EQ(bench.link.probe_due(), start + 29s);
  EXPECT_EQ(bench.link.overloaded_since(), start + 9s);
  EXPECT_FALSE(bench.record(Evidence::answered));
  EXPECT_EQ(bench.link.overloaded_since(), std::nullopt);

  // In suspect and offline it counts as an unsuccessful probe, and the next one is later.
  for (const LinkState state : {LinkState::suspect, LinkState::offline}) {
    bench.now += 100s;
    EXPECT_TRUE(bench.record(Evidence::failed));
    EXPECT_EQ(bench.link.state(), state);
    bench.now = bench.link.probe_due();
    bench.link.probing(bench.now);
    EXPECT_FALSE(overload(4s));
    EXPECT_EQ(bench.link.state(), state);
    EXPECT_GE(bench.link.probe_due(), bench.now + 4s);
    EXPECT_LE(bench.link.probe_due(), bench.now + 8s);
  }
  EXPECT_EQ(bench.link.reason(), "answered 503");
  // A rejoin that it breaks off is tried again when it asked for it.
  EXPECT_TRUE(bench.record(Evidence::answered));
  EXPECT_FALSE(overload(15s));
  bench.link.rejoin_failed(bench.now, "outbox: answered 503");
  EXPECT_EQ(bench.link.probe_due(), bench.now + 15s);
}

TEST(Link, AChangeOfTheNetworkHastensTheNextProbe) {
  Bench bench;
  bench.cut();
  const auto probe_in_vain = [&bench] {
    bench.now = bench.link.probe_due();
    bench.link.probing(bench.now);
    bench.now += 1s;
    EXPECT_FALSE(bench.record(Evidence::failed));
  };
  for (int probe = 0; probe < 5; ++probe) probe_in_vain();
  EXPECT_GE(bench.link.probe_due(), bench.now + 4s) << "half of the longest backoff";
  EXPECT_TRUE(bench.link.network_changed(bench.now));
  const MonoTime due = bench.link.probe_due();
  EXPECT_GE(due, bench.now + 1s) << "half of the shortest backoff";
  EXPECT_LE(due, bench.now + 2s);
  EXPECT_FALSE(bench.link.network_changed(bench.now + 100ms));
  EXPECT_EQ(bench.link.probe_due(), due) << "more of the same";
  probe_in_vain();
  EXPECT_GE(bench.link.probe_due(), bench.now + 2s) << "the backoff grows again";
  bench.now += 10s;
  EXPECT_TRUE(bench.link.network_changed(bench.now));
  EXPECT_LE(bench.link.probe_due(), bench.now + 2s);

  // A probe that was under way does not count any more.
  bench.now = bench.link.probe_due() + 20s;
  bench.link.probing(bench.now);
  const MonoTime probed = bench.now;
  EXPECT_TRUE(bench.link.network_changed(bench.now));
  const MonoTime next = bench.link.probe_due();
  EXPECT_FALSE(bench.link.record(bench.now + 500ms, probed, Evidence::failed, "before"));
  EXPECT_EQ(bench.link.probe_due(), next);

  // It spares an overloaded server, and matters only while offline.
  bench.now += 20s;
  bench.link.probing(bench.now);
  EXPECT_FALSE(bench.link.record(bench.now, bench.now, Evidence::overloaded, "503", 15s));
  EXPECT_TRUE(bench.link.network_changed(bench.now));
  EXPECT_EQ(bench.link.probe_due(), bench.now + 15s);
  bench.now += 20s;
  bench.connect();
  const MonoTime regular = bench.link.probe_due();
  EXPECT_FALSE(bench.link.network_changed(bench.now));
  EXPECT_EQ(bench.link.probe_due(), regular);
  EXPECT_EQ(bench.link.state(), LinkState::connected);
}

TEST(Link, OfflineTellsWhatTheLastProbeMet) {
  Bench bench;
  for (const char* reason : {"connection refused", "deadline passed"}) {
    bench.now = bench.link.probe_due();
    bench.link.probing(bench.now);
    EXPECT_FALSE(bench.link.record(bench.now, bench.now, Evidence::failed, reason));
    EXPECT_EQ(bench.link.reason(), reason);
    EXPECT_FALSE(bench.link.record(bench.now, bench.now, Evidence::failed, "a client's"));
    EXPECT_EQ(bench.link.reason(), reason);
  }
}

TEST(Link, DoubtAsksAtOnce) {
  Bench bench;
  bench.connect();
  bench.now += 1s;
  bench.link.probe_now(bench.now);
  EXPECT_EQ(bench.link.probe_due(), bench.now);
  EXPECT_EQ(bench.link.state(), LinkState::connected);
  EXPECT_TRUE(bench.record(Evidence::failed));
  EXPECT_TRUE(bench.record(Evidence::failed));
  const MonoTime due = bench.link.probe_due();
  bench.link.probe_now(bench.now);
  EXPECT_EQ(bench.link.probe_due(), due) << "offline it has its back-off";
}

// A client that causes doubt with each of its requests costs no more than a probe each second.
TEST(Link, DoubtAsksOnceInAProbesTime) {
  Bench bench;
  bench.connect();
  int probes = 0;
  for (int request = 0; request < 1000; ++request) {
    bench.now += 10ms;
    bench.link.probe_now(bench.now);
    if (bench.link.probe_due() > bench.now) continue;
    bench.link.probing(bench.now);
    (void)bench.record(Evidence::answered);
    ++probes;
  }
  EXPECT_EQ(probes, 10);
  (void)bench.link.record(bench.now, bench.now, Evidence::overloaded, "busy", 5s);
  bench.link.probe_now(bench.now);
  EXPECT_EQ(bench.link.probe_due(), bench.now + 5s);
}

TEST(Link, AWriteAcceptedHereMakesTheWayBackARejoin) {
  Bench bench;
  bench.connect();
  bench.now += 1s;
  EXPECT_TRUE(bench.record(Evidence::failed));
  bench.link.accepted_locally();
  bench.now += 1s;
  EXPECT_TRUE(bench.record(Evidence::answered));
  EXPECT_EQ(bench.link.state(), LinkState::rejoining) << "the outbox is not empty";
  EXPECT_EQ(bench.link.probe_due(), MonoTime::max());
  bench.link.rejoined(bench.now);
  bench.now += 1s;
  EXPECT_TRUE(bench.record(Evidence::failed));
  EXPECT_TRUE(bench.record(Evidence::answered));
  EXPECT_EQ(bench.link.state(), LinkState::connected) << "nothing is owed any more";
}

// However long the rejoin or the doubt took: the lease must not become old meanwhile.
TEST(Link, OnceConnectedTheNextProbeIsDueByTheLastRenewal) {
  const struct {
    Duration ago;  // since the last renewal
    Duration due;  // from now on
  } rows[] = {{0s, 10s}, {4s, 6s}, {10s, 0s}, {1h, 0s}, {-1s, 10s}};
  for (const auto& row : rows) {
    Bench bench;
    bench.cut();
    bench.now += 2h;
    EXPECT_TRUE(bench.record(Evidence::answered));
    bench.now += 1min;
    bench.link.renewed(bench.now, bench.now - row.ago);
    bench.link.rejoined(bench.now);
    EXPECT_EQ(bench.link.probe_due() - bench.now, row.due) << "rejoin, " << row.ago / 1s;

    Bench doubt;
    doubt.connect();
    doubt.now += std::max<Duration>(row.ago, 0s);
    EXPECT_TRUE(doubt.record(Evidence::failed));
    EXPECT_TRUE(doubt.record(Evidence::answered)) << "by any request";
    EXPECT_EQ(doubt.link.probe_due() - doubt.now, row.due) << "doubt, " << row.ago / 1s;
  }
}

TEST(Link, ARenewalThatWasUnderWayCountsOnceItIsGranted) {
  for (const bool doubted : {false, true}) {
    Bench bench;
    bench.connect();
    bench.now += 20s;
    EXPECT_TRUE(bench.record(Evidence::failed));
    bench.link.probing(bench.now);
    const MonoTime sent = bench.now;
    bench.now += 1s;
    EXPECT_TRUE(bench.record(Evidence::answered)) << "another request";
    EXPECT_EQ(bench.link.probe_due(), bench.now + 1s) << "it may still be granted";
    if (doubted) bench.link.probe_now(bench.now);
    bench.now += 2s;
    bench.link.renewed(bench.now, sent);
    EXPECT_EQ(bench.link.renewed_at(), sent);
    EXPECT_EQ(bench.link.probe_due(), doubted ? bench.now - 2s : sent + 10s) << doubted;
  }
}

TEST(Link, ProbesBackOffWithJitterAndAreNotPutOffByOthers) {
  Bench bench;
  bench.cut();
  Duration backoff = 2s;
  for (int round = 0; round < 6; ++round) {
    const Duration wait = bench.link.probe_due() - bench.now;
    EXPECT_GE(wait, backoff / 2) << round;
    EXPECT_LE(wait, backoff) << round;
    const MonoTime due = bench.link.probe_due();
    for (int i = 0; i < 20; ++i) EXPECT_FALSE(bench.record(Evidence::failed));
    EXPECT_EQ(bench.link.probe_due(), due) << "clients in vain";
    bench.now = due;
    bench.link.probing(bench.now);
    EXPECT_EQ(bench.link.probe_due(), bench.now + 1s);
    EXPECT_FALSE(bench.record(Evidence::failed));
    backoff = std::min<Duration>(backoff * 2, 8s);
  }
}

TEST(Link, AnAnswerToAQuestionFromBeforeTheOutageIsNotBelieved) {
  Bench bench;
  bench.cut();
  EXPECT_FALSE(bench.link.record(bench.now, bench.now - 1s, Evidence::answered, "late"));
  EXPECT_EQ(bench.link.state(), LinkState::offline);
  EXPECT_TRUE(bench.record(Evidence::answered));
  EXPECT_EQ(bench.link.state(), LinkState::rejoining);
  for (const Evidence evidence : {Evidence::answered, Evidence::failed, Evidence::overloaded}) {
    EXPECT_FALSE(bench.record(evidence)) << "the rejoin says how it went";
  }
}

TEST(Link, ARejoinThatFailsKeepsTheBackoff) {
  Bench bench;
  bench.cut();
  for (int round = 0; round < 4; ++round) {
    bench.now = bench.link.probe_due();
    bench.link.probing(bench.now);
    EXPECT_TRUE(bench.record(Evidence::answered));
    bench.now += 1s;
    bench.link.rejoin_failed(bench.now, "outbox");
    EXPECT_EQ(bench.link.state(), LinkState::offline);
    EXPECT_EQ(bench.link.reason(), "outbox");
  }
  EXPECT_GE(bench.link.probe_due() - bench.now, 4s);
  EXPECT_LE(bench.link.probe_due() - bench.now, 8s);
}

}  // namespace
}  // namespace holdfast::sync::autonomy
