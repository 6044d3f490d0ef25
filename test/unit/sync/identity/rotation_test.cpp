// Rotation as scripts in virtual time: inputs, the actions that must follow, and deadlines.

#include "sync/identity/rotation.h"

namespace holdfast::sync::identity {
namespace {

using namespace std::chrono_literals;
using namespace rotate;
using State = Rotation::State;

const WallTime day = parse_rfc3339("2026-05-01T00:00:00Z").value();
constexpr Duration year = std::chrono::hours(365 * 24);
const Validity year_long{day, day + year};
const Error refused{Errc::denied, "401"};
const Error away{Errc::unavailable, "refused"};

// A Rotation and its two clocks.
struct Bench {
  explicit Bench(std::optional<Validity> held, std::uint64_t seed = 1)
      : random(seed), rotation({}, random, held, now) {}

  Actions step(Input input) { return rotation.step(now, wall, std::move(input)); }
  // Steps from deadline to deadline until there are actions, at most for `limit`.
  Actions run(Duration limit = 2 * year) {
    const MonoTime end = now + limit;
    for (;;) {
      Actions actions = step(TimePassed{});
      if (!actions.empty()) return actions;
      if (rotation.deadline() > end) return {};
      EXPECT_GT(rotation.deadline(), now);
      pass(rotation.deadline() - now);
    }
  }
  void pass(Duration duration) {
    now += duration;
    wall += duration;
  }
  // Answers a pending SubmitRequest until the certificate is held.
  void get(const Validity& validity) {
    EXPECT_TRUE(step(Submitted{"csr-1"}).empty());
    EXPECT_EQ(run(), (Actions{PollRequest{"csr-1", with}}));
    EXPECT_EQ(step(Polled{{"csr-1", CsrState::Status::issued, "PEM", ""}}),
              (Actions{Adopt{"PEM"}}));
    EXPECT_TRUE(step(Adopted{validity}).empty());
    EXPECT_EQ(rotation.state(), State::holding);
  }

  Random random;
  MonoTime now{100s};
  WallTime wall = day;
  Credentials with = Credentials::own;
  Rotation rotation;
};

TEST(Rotation, ANewNodeBootstrapsAtOnce) {
  Bench bench(std::nullopt);
  EXPECT_EQ(bench.rotation.deadline(), bench.now);
  EXPECT_EQ(bench.step(TimePassed{}), (Actions{SubmitRequest{Credentials::bootstrap}}));
  EXPECT_EQ(bench.rotation.deadline(), MonoTime::max());
  bench.with = Credentials::bootstrap;
  bench.get(year_long);
  EXPECT_EQ(bench.rotation.held(), year_long);
}

TEST(Rotation, ReplacesAtARandomMomentBetween70And90PercentOfLife) {
  Duration first = Duration::max();
  Duration last = Duration::min();
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Bench bench(year_long, seed);
    const WallTime due = bench.rotation.due().value();
    if (seed < 4) {  // a year has many steps
      EXPECT_EQ(bench.run(), (Actions{SubmitRequest{Credentials::own}}));
      EXPECT_EQ(bench.wall, due);
    }
    const Duration age = due - year_long.not_before;
    EXPECT_GE(age, year * 7 / 10);
    EXPECT_LE(age, year * 9 / 10);
    first = std::min(first, age);
    last = std::max(last, age);
  }
  EXPECT_LT(first, year * 72 / 100);
  EXPECT_GT(last, year * 88 / 100);
}

TEST(Rotation, KeepsWhatItHasWhileRenewalFails) {
  Bench bench(year_long);
  EXPECT_EQ(bench.run().size(), 1u);
  MonoTime asked = bench.now;
  for (int i = 0; i < 100; ++i) {
    const Actions warned = bench.step(NotSubmitted{away});
    EXPECT_EQ(warned, (Actions{Warn{"certificate request not sent: refused"}}));
    EXPECT_EQ(bench.rotation.held(), year_long);
    EXPECT_EQ(bench.run(), (Actions{SubmitRequest{Credentials::own}}));
    EXPECT_GE(bench.now - asked, 1s) << "never in a tight loop";
    EXPECT_LE(bench.now - asked, 10min + 1s);
    asked = bench.now;
  }
  const Validity next{bench.wall, bench.wall + year};
  bench.get(next);
  EXPECT_EQ(bench.rotation.held(), next);
}

TEST(Rotation, AnExpiredCertificateIsAskedForWithTheBootstrapCredentials) {
  Bench bench(year_long);
  bench.wall += 2 * year;
  EXPECT_EQ(bench.step(TimePassed{}), (Actions{SubmitRequest{Credentials::bootstrap}}));
  EXPECT_EQ(bench.rotation.held(), year_long)
      << "the certificate is kept: the server may still accept it";
  // The token has expired, too: both credentials are tried in turn, forever.
  EXPECT_EQ(bench.step(NotSubmitted{refused}).size(), 1u);
  EXPECT_EQ(bench.run(), (Actions{SubmitRequest{Credentials::own}}));
  EXPECT_EQ(bench.step(NotSubmitted{refused}).size(), 1u);
  EXPECT_EQ(bench.run(), (Actions{SubmitRequest{Credentials::bootstrap}}));
  EXPECT_EQ(bench.step(NotSubmitted{away}).size(), 1u)
      << "the server was not reached, so the token may be good";
  EXPECT_EQ(bench.run(), (Actions{SubmitRequest{Credentials::bootstrap}}));
}

TEST(Rotation, AServerThatDoesNotKnowUsIsBootstrappedAgain) {
  Bench bench(year_long);
  EXPECT_TRUE(bench.step(TimePassed{}).empty());
  EXPECT_EQ(bench.step(Refused{}), (Actions{SubmitRequest{Credentials::bootstrap}}));
  EXPECT_TRUE(bench.step(Refused{}).empty()) << "a request is already pending";
  bench.with = Credentials::bootstrap;
  bench.get({bench.wall, bench.wall + year});
  EXPECT_TRUE(bench.run(100h).empty());
  // Repeated rejections do not lead to more requests than the backoff allows.
  EXPECT_EQ(bench.step(Refused{}).size(), 1u);
  EXPECT_EQ(bench.step(NotSubmitted{away}).size(), 1u);
  EXPECT_TRUE(bench.step(Refused{}).empty());
  Bench fresh(std::nullopt);
  EXPECT_TRUE(fresh.step(Refused{}).empty()) << "no effect without a certificate";
}

TEST(Rotation, WithoutBootstrapCredentialsTheNodesOwnAreAllThereIs) {
  Random random(1);
  Rotation serving({.bootstraps = false}, random, std::nullopt, MonoTime{});
  EXPECT_EQ(serving.step(MonoTime{}, day, TimePassed{}),
            (Actions{SubmitRequest{Credentials::own}}));
  EXPECT_EQ(serving.step(MonoTime{}, day, NotSubmitted{refused}).size(), 1u);
  EXPECT_EQ(serving.step(serving.deadline(), day, TimePassed{}),
            (Actions{SubmitRequest{Credentials::own}}));
}

TEST(Rotation, AnUndecidedRequestIsWaitedForAndNeverDoubled) {
  Bench bench(std::nullopt);
  EXPECT_EQ(bench.step(TimePassed{}).size(), 1u);
  EXPECT_TRUE(bench.step(Submitted{"csr-1"}).empty());
  const PollRequest look{"csr-1", Credentials::bootstrap};
  Duration waited{};
  for (int i = 0; i < 20; ++i) {
    const MonoTime before = bench.now;
    EXPECT_EQ(bench.run(), (Actions{look}));
    EXPECT_GE(bench.now - before, waited);
    waited = bench.now - before;
    const bool pending = i % 2 == 0;
    Input input = PollFailed{away};
    if (pending) input = Polled{{"csr-1", CsrState::Status::pending, "", ""}};
    EXPECT_TRUE(bench.step(std::move(input)).empty());
    EXPECT_TRUE(bench.step(Refused{}).empty());
  }
  EXPECT_EQ(waited, 30s);
  EXPECT_EQ(bench.run(), (Actions{look}));
  const Error gone{Errc::not_found, "404"};
  EXPECT_EQ(bench.step(PollFailed{gone}),
            (Actions{Warn{"csr-1 no longer exists and was never decided"}}));
  EXPECT_EQ(bench.run(), (Actions{SubmitRequest{Credentials::bootstrap}}));
}

TEST(Rotation, ANoIsTakenForTenMinutes) {
  for (const auto status : {CsrState::Status::denied, CsrState::Status::failed}) {
    Bench bench(std::nullopt);
    EXPECT_EQ(bench.step(TimePassed{}).size(), 1u);
    EXPECT_TRUE(bench.step(Submitted{"csr-1"}).empty());
    EXPECT_EQ(bench.run().size(), 1u);
    const Actions warned = bench.step(Polled{{"csr-1", status, "", "not one of ours"}});
    ASSERT_EQ(warned.size(), 1u);
    EXPECT_NE(std::get<Warn>(warned.front()).what.find("not one of ours"), std::string::npos);
    const MonoTime before = bench.now;
    EXPECT_EQ(bench.run(), (Actions{SubmitRequest{Credentials::bootstrap}}));
    EXPECT_GE(bench.now - before, 10min);
  }
}

TEST(Rotation, WhatIsIssuedAndUselessChangesNothing) {
  Bench bench(year_long);
  EXPECT_EQ(bench.run().size(), 1u);
  EXPECT_TRUE(bench.step(Submitted{"csr-1"}).empty());
  EXPECT_EQ(bench.run().size(), 1u);
  EXPECT_EQ(bench.step(Polled{{"csr-1", CsrState::Status::issued, "PEM", ""}}).size(), 1u);
  const Error other{Errc::invalid, "another key"};
  EXPECT_EQ(bench.step(Unusable{other}),
            (Actions{Warn{"the issued certificate cannot be used: another key"}}));
  EXPECT_EQ(bench.rotation.held(), year_long);
  EXPECT_EQ(bench.run(), (Actions{SubmitRequest{Credentials::own}}));
}

TEST(Rotation, ACertificateThatIsDueWhenItComesIsNotAskedForInACircle) {
  Bench bench(std::nullopt);
  bench.with = Credentials::bootstrap;
  EXPECT_EQ(bench.step(TimePassed{}).size(), 1u);
  bench.wall += 3 * year;  // This node's clock is ahead of the signer's.
  bench.get(year_long);
  const MonoTime before = bench.now;
  EXPECT_EQ(bench.run(), (Actions{SubmitRequest{Credentials::bootstrap}}));
  EXPECT_GE(bench.now - before, 1s);
}

TEST(Rotation, TheCalendarMayBeSetAtAnyTime) {
  Bench bench(year_long);
  EXPECT_TRUE(bench.step(TimePassed{}).empty());
  EXPECT_LE(bench.rotation.deadline() - bench.now, 5min);
  bench.wall += year;
  bench.pass(bench.rotation.deadline() - bench.now);
  EXPECT_EQ(bench.step(TimePassed{}), (Actions{SubmitRequest{Credentials::bootstrap}}));
  EXPECT_EQ(bench.step(NotSubmitted{away}).size(), 1u);
  bench.wall -= year;
  EXPECT_TRUE(bench.run(24h).empty()) << "the clock was corrected, so no request is needed";
}

}  // namespace
}  // namespace holdfast::sync::identity
