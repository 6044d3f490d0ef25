#include "sync/runtime/crash_backoff.h"

namespace holdfast::sync::runtime {
namespace {

using namespace std::chrono_literals;

constexpr MonoTime start = MonoTime(1h);

Attempt ended(Duration ran, Duration next_delay) {
  Attempt attempt;
  attempt.state = AttemptState::ended;
  attempt.started = start;
  attempt.ended = start + ran;
  attempt.next_delay = next_delay;
  attempt.exit.kind = ContainerExit::Kind::code;
  return attempt;
}

CrashBackoff backoff_after(const Attempt& last, const CrashBackoffConfig& config) {
  return backoff_after(Attempts{last}, config);
}

TEST(CrashBackoff, FirstRestartAtOnceThenDoublingToFiveMinutes) {
  std::vector<Duration> delays;
  Duration next{};
  for (int attempt = 0; attempt < 9; ++attempt) {
    const CrashBackoff backoff = backoff_after(ended(1s, next), {});
    delays.push_back(backoff.delay);
    next = backoff.next_delay;
  }
  EXPECT_EQ(delays, (std::vector<Duration>{0s, 10s, 20s, 40s, 80s, 160s, 300s, 300s, 300s}));
}

TEST(CrashBackoff, CountsFromTheEnd) {
  EXPECT_EQ(backoff_after(ended(7s, 40s), {}), (CrashBackoff{start + 47s, 40s, 80s}));
}

TEST(CrashBackoff, ALongRunStartsOver) {
  EXPECT_EQ(backoff_after(ended(10min, 300s), {}).delay, 300s);
  EXPECT_EQ(backoff_after(ended(10min + 1s, 300s), {}), (CrashBackoff{MonoTime::min(), 0s, 10s}));
}

TEST(CrashBackoff, ARebootStartsOver) {
  Attempt attempt = ended(1s, 300s);
  attempt.started.reset();
  attempt.ended.reset();
  EXPECT_EQ(backoff_after(attempt, {}), (CrashBackoff{MonoTime::min(), 0s, 10s}));
}

TEST(CrashBackoff, WhatNeverBeganCostsNothing) {
  Attempt attempt = ended(0s, 40s);
  attempt.exit.kind = ContainerExit::Kind::never_began;
  EXPECT_EQ(backoff_after(attempt, {}), (CrashBackoff{MonoTime::min(), 0s, 40s}));
}

TEST(CrashBackoff, SeveralThatNeverBeganAreDelayedLikeFailures) {
  Attempts attempts;
  std::vector<Duration> delays;
  Duration next{};
  for (int i = 0; i < 9; ++i) {
    attempts.push_back(ended(0s, next));
    attempts.back().exit.kind = ContainerExit::Kind::never_began;
    const CrashBackoff backoff = backoff_after(attempts, {});
    delays.push_back(backoff.delay);
    EXPECT_EQ(backoff.start_at, backoff.delay > 0s ? start + backoff.delay : MonoTime::min());
    next = backoff.next_delay;
  }
  EXPECT_EQ(delays, (std::vector<Duration>{0s, 0s, 10s, 20s, 40s, 80s, 160s, 300s, 300s}));
  attempts.push_back(ended(1s, 0s));
  attempts.push_back(ended(0s, 40s));
  attempts.back().exit.kind = ContainerExit::Kind::never_began;
  EXPECT_EQ(backoff_after(attempts, {}).delay, 0s) << "a single attempt";
}

TEST(CrashBackoff, ItsOwnConstants) {
  const CrashBackoffConfig config{.initial = 1s, .most = 3s, .reset_after = 5s};
  EXPECT_EQ(backoff_after(ended(1s, 0s), config).next_delay, 1s);
  EXPECT_EQ(backoff_after(ended(1s, 2s), config), (CrashBackoff{start + 3s, 2s, 3s}));
  EXPECT_EQ(backoff_after(ended(6s, 3s), config), (CrashBackoff{MonoTime::min(), 0s, 1s}));
}

}  // namespace
}  // namespace holdfast::sync::runtime
