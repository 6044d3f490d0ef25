// Reports about outages, as scripts in virtual time with the complete texts.

#include "sync/autonomy/outage.h"

#include <gtest/gtest.h>

#include <set>

namespace holdfast::sync::autonomy {
namespace {

using State = LinkState;
using Fault = std::optional<LinkFault>;

constexpr MonoTime agent_start{1000s};
// 2026-11-21T14:02:11Z
constexpr WallTime wall_at_start{std::chrono::seconds(1'795'269'731)};

constexpr const char* refusal = "connect 10.0.0.1:6443: connection refused";
const std::string check_server =
    "; check the server's address and port in the kubeconfig, and that the API server runs";
const std::string check_credentials =
    "; check the token or client certificate in the kubeconfig, whether it has expired, and this "
    "node's clock";

struct OutageBench {
  MonoTime now = agent_start;
  Outage outage{OutageConfig{}, agent_start};
  std::vector<std::string> log;

  void record(State state, Fault fault = {}, std::string_view reason = "") {
    outage.record(now, state, fault, reason);
    say();
  }
  void fail(LinkFault fault = LinkFault::refused, std::string_view reason = refusal) {
    record(State::offline, fault, reason);
  }
  void say() {
    for (const OutageNote& note : outage.take(now)) {
      log.push_back(format_duration(now - agent_start) + " " + log_text(note, reading()));
    }
  }
  [[nodiscard]] ClockReading reading() const { return {now, wall_at_start + (now - agent_start)}; }
  // Lets time pass and takes each note when it is due.
  void run(Duration duration) {
    const MonoTime end = now + duration;
    while (outage.due() <= end) {
      now = std::max(now, outage.due());
      say();
    }
    now = end;
  }
  void connect() {
    record(State::rejoining);
    record(State::connected);
    log.clear();
  }
  // Goes offline after two failures with a second between them.
  void cut() {
    record(State::suspect, LinkFault::refused, refusal);
    run(1s);
    fail(LinkFault::refused, "PATCH /apis/leases/a: " + std::string(refusal));
  }
  std::vector<std::string> take_log() { return std::exchange(log, {}); }
};

using Lines = std::vector<std::string>;

TEST(Outage, AStartWithoutFailureIsOneLine) {
  OutageBench bench;
  EXPECT_EQ(bench.outage.due(), MonoTime::max()) << "nothing was reported yet";
  bench.run(2s);
  bench.record(State::rejoining);
  bench.record(State::connected);
  EXPECT_EQ(bench.take_log(), Lines{"2s connected"});
  EXPECT_EQ(describe(bench.outage, bench.reading()), "");
  bench.run(24h);
  EXPECT_EQ(bench.take_log(), Lines{});
}

TEST(Outage, AnAgentThatIsGettingItsFirstCredentialsHasLostNothing) {
  constexpr const char* no_certificate = "the node has no client certificate yet";
  OutageBench bench;
  bench.fail(LinkFault::credentials, no_certificate);
  bench.run(9s);
  bench.fail(LinkFault::credentials, no_certificate);
  bench.record(State::rejoining);
  bench.record(State::connected);
  EXPECT_EQ(bench.take_log(), Lines{"9s connected"});

  OutageBench rejected;
  rejected.fail(LinkFault::credentials, no_certificate);
  rejected.run(1min);
  EXPECT_EQ(
      rejected.take_log(),
      Lines{"10s the cloud was not reached: " + std::string(no_certificate) + check_credentials});
  rejected.run(20s);
  EXPECT_EQ(rejected.take_log(), Lines{"1m10s the cloud was not reached in 1m10s: " +
                                       std::string(no_certificate) + check_credentials});

  OutageBench elsewhere;
  elsewhere.fail(LinkFault::credentials, no_certificate);
  elsewhere.fail();
  EXPECT_EQ(elsewhere.take_log(),
            Lines{"0s the cloud was not reached: " + std::string(refusal) + check_server});
}

TEST(Outage, AMisconfiguredAgentSaysWhyAtOnceAndAtGrowingIntervals) {
  OutageBench bench;
  for (int i = 0; i < 3; ++i) bench.fail();
  EXPECT_EQ(bench.take_log(),
            Lines{"0s the cloud was not reached: " + std::string(refusal) + check_server});
  bench.run(4h);
  Lines expected;
  for (const char* when :
       {"1m0s", "3m0s", "7m0s", "15m0s", "31m0s", "1h3m0s", "2h3m0s", "3h3m0s"}) {
    expected.push_back(std::string(when) + " the cloud was not reached in " + when + ": " +
                       refusal + check_server);
  }
  EXPECT_EQ(bench.take_log(), expected);
  EXPECT_EQ(describe(bench.outage, bench.reading()),
            "the cloud has not been reached since the start at 14:02Z (4 h 0 min): connection "
            "refused");
  bench.record(State::rejoining);
  bench.record(State::connected);
  EXPECT_EQ(bench.take_log(),
            Lines{"4h0m0s connected after 4h0m0s (not reached since the start at 14:02:11Z; "
                  "nothing to replay)"});
}

TEST(Outage, TheReturnIsOneLineThatSaysWhatBecameOfTheWrites) {
  OutageBench bench;
  bench.connect();
  bench.cut();
  EXPECT_EQ(bench.take_log(), Lines{"1s the cloud has been unreachable since 14:02:11Z: " +
                                    std::string(refusal) + check_server});
  bench.run(58s);
  bench.record(State::rejoining);
  EXPECT_EQ(bench.outage.due(), MonoTime::max()) << "a rejoin says by itself how it ends";
  bench.run(38s);
  for (int i = 0; i < 14; ++i) bench.outage.settled("");
  bench.outage.settled("PATCH /api/v1/namespaces/a/pods/b/status: answered 422");
  bench.record(State::connected);
  EXPECT_EQ(bench.take_log(),
            Lines{"1m37s connected after 1m37s (lost at 14:02:11Z; 14 writes replayed, 1 refused: "
                  "PATCH /api/v1/namespaces/a/pods/b/status: answered 422)"});
  // The next outage starts from scratch: earlier writes are not counted again.
  bench.run(1h);
  bench.cut();
  bench.outage.settled("");
  bench.record(State::connected);
  EXPECT_EQ(bench.take_log(),
            (Lines{"1h1m38s the cloud has been unreachable since 15:03:48Z: " +
                       std::string(refusal) + check_server,
                   "1h1m38s connected after 1s (lost at 15:03:48Z; 1 write replayed)"}));
}

TEST(Outage, WhatPassesInSuspectIsNotSaid) {
  OutageBench bench;
  bench.connect();
  bench.record(State::suspect, LinkFault::timeout, "GET /: deadline passed");
  bench.run(900ms);
  EXPECT_EQ(describe(bench.outage, bench.reading()),
            "the cloud has not answered for 0 s: no answer in time");
  bench.record(State::connected);
  EXPECT_EQ(bench.take_log(), Lines{});
  EXPECT_EQ(bench.outage.began(), std::nullopt);
}

TEST(Outage, AnotherKindOfFaultIsToldSoonerButOnceOnly) {
  OutageBench bench;
  bench.connect();
  bench.cut();
  bench.run(20min);
  bench.log.clear();
  const MonoTime due = bench.outage.due();
  EXPECT_EQ(due, agent_start + 31min + 1s);
  // The port is open again, but the token has expired. Then the faults alternate.
  bench.fail(LinkFault::credentials, "the API server does not accept the node's credentials");
  for (int i = 0; i < 60; ++i) {
    bench.run(10s);
    bench.fail(i % 2 == 0 ? LinkFault::refused : LinkFault::credentials, "again");
  }
  const Lines log = bench.take_log();
  ASSERT_EQ(log.size(), 1u) << "the next one is due by the interval";
  EXPECT_EQ(
      log[0],
      "20m1s the cloud has been unreachable for 20m1s (since 14:02:11Z): the API server does not "
      "accept the node's credentials" +
          check_credentials);
}

TEST(Outage, ARejoinThatFailsGoesOnWithTheSameOutage) {
  OutageBench bench;
  bench.connect();
  bench.cut();
  bench.log.clear();
  bench.run(30s);
  bench.record(State::rejoining);
  EXPECT_EQ(describe(bench.outage, bench.reading()),
            "the cloud is reachable again, and the cache is being brought up to date");
  bench.run(60s);
  bench.record(State::offline, LinkFault::refused, "node: refused");
  bench.run(1s);
  EXPECT_EQ(bench.take_log(),
            Lines{"1m31s the cloud has been unreachable for 1m31s (since 14:02:11Z): "
                  "node: refused" +
                  check_server});
  bench.record(State::connected);
  EXPECT_EQ(bench.take_log(),
            Lines{"1m32s connected after 1m32s (lost at 14:02:11Z; nothing to replay)"});
}

TEST(Outage, ANodeWhoseDiskFailsIsOfflineAlthoughTheCloudAnswers) {
  const std::string why =
      "commit: outbox.db: full; check the space and the health of the disk with the agent's data; "
      "the API server answers";
  OutageBench started;
  started.fail(LinkFault::disk, "commit: outbox.db: full");
  started.run(1min);
  EXPECT_EQ(started.take_log(), (Lines{"0s the node did not come online: " + why,
                                       "1m0s the node did not come online in 1m0s: " + why}));
  EXPECT_EQ(describe(started.outage, started.reading()),
            "the node has not come online since the start at 14:02Z (1 min): this node's disk "
            "takes no writes");

  OutageBench bench;
  bench.connect();
  bench.cut();
  bench.log.clear();
  bench.run(20min);
  bench.log.clear();
  bench.record(State::rejoining);
  bench.fail(LinkFault::disk, "commit: outbox.db: full");
  EXPECT_EQ(bench.take_log(),
            Lines{"20m1s the node has been offline for 20m1s (since 14:02:11Z): " + why});
  EXPECT_EQ(describe(bench.outage, bench.reading()),
            "the node has been offline since 14:02Z (20 min): this node's disk takes no writes");
  bench.record(State::connected);
  EXPECT_EQ(bench.take_log(),
            Lines{"20m1s connected after 20m1s (lost at 14:02:11Z; nothing to replay)"});
}

TEST(Outage, OneThatAnEarlierRunOfTheAgentSawBeginGoesOn) {
  OutageBench bench;
  bench.outage.resume(agent_start - 26h);
  bench.fail();
  EXPECT_EQ(bench.take_log(),
            Lines{"0s the cloud has been unreachable since 2026-11-20 12:02:11Z: " +
                  std::string(refusal) + check_server});
  EXPECT_EQ(describe(bench.outage, bench.reading()),
            "the cloud has been unreachable since 2026-11-20 12:02Z (26 h 0 min): connection "
            "refused");
  bench.record(State::rejoining);
  const auto back = [&bench] {
    bench.outage.record(bench.now, State::connected, {}, "");
    return bench.outage.take(bench.now);
  }();
  ASSERT_EQ(back.size(), 1u);
  EXPECT_TRUE(back[0].resumed);
  EXPECT_TRUE(back[0].was_reported) << "its end is recorded";
  EXPECT_EQ(journal_text(back[0]),
            "ended after 26h0m0s (refused: " + std::string(refusal) + "); nothing to replay");
}

TEST(Outage, DurationsAreThoseThatPeopleRemember) {
  struct Case {
    Duration age;
    const char* text;
  };
  constexpr Case cases[] = {
      {59s, "14:01Z (59 s)"},
      {26min + 40s, "13:35Z (26 min)"},
      {5h + 12min, "08:50Z (5 h 12 min)"},
      {14h + 3min, "2026-11-20 23:59Z (14 h 3 min)"},
      {76h, "2026-11-18 10:02Z (3 d 4 h)"},
  };
  for (const Case& c : cases) {
    OutageBench bench;
    bench.outage.resume(agent_start - c.age);
    EXPECT_EQ(
        describe(bench.outage, bench.reading()),
        std::string("the cloud has been unreachable since ") + c.text + ": it can't be reached");
  }
}

TEST(Outage, EveryFaultHasItsAdvice) {
  std::set<std::string> seen;
  for (std::size_t i = 0; i < link_faults; ++i) {
    const OutageNote note{.fault = static_cast<LinkFault>(i), .reason = "why"};
    const std::string text = log_text(note, {});
    EXPECT_TRUE(seen.insert(text.substr(text.find(';'))).second) << text;
  }
}

}  // namespace
}  // namespace holdfast::sync::autonomy
