// Backoff: it grows, stays below its bound, and starts over after a quiet time.

#include "sync/pacing/backoff.h"

namespace holdfast::sync::pacing {
namespace {

using namespace std::chrono_literals;

constexpr BackoffConfig config{.initial = 800ms, .most = 30s, .factor = 2.0, .reset_after = 2min};

TEST(Backoff, BoundsDoubleUpToTheMost) {
  const std::vector<Duration> bounds = {800ms, 1600ms, 3200ms, 6400ms, 12800ms, 25600ms, 30s, 30s};
  // Many draws of each step: never above the bound, and close to it at least once.
  std::vector<Duration> largest(bounds.size());
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    Backoff backoff(config);
    MonoTime now{};
    for (std::size_t i = 0; i < bounds.size(); ++i) {
      const Duration wait = backoff.next(now, random);
      EXPECT_GE(wait, 0s);
      EXPECT_LE(wait, bounds[i]);
      largest[i] = std::max(largest[i], wait);
      now += wait;
    }
  }
  for (std::size_t i = 0; i < bounds.size(); ++i) EXPECT_GT(largest[i], bounds[i] * 9 / 10);
}

TEST(Backoff, QuietOrResetStartsAgain) {
  Random random(1);
  Backoff backoff(config);
  MonoTime now{};
  for (int i = 0; i < 10; ++i) (void)backoff.next(now, random);
  for (int i = 0; i < 20; ++i) {
    now += 2min + 1ns;
    EXPECT_LE(backoff.next(now, random), 800ms);
  }
  for (int i = 0; i < 10; ++i) (void)backoff.next(now, random);
  backoff.reset();
  EXPECT_LE(backoff.next(now, random), 800ms);
}

}  // namespace
}  // namespace holdfast::sync::pacing
