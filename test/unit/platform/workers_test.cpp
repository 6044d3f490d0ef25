#include "platform/loop/workers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace holdfast::loop {
namespace {

TEST(Workers, DoEachPieceOnceAndAllBeforeTheyReturn) {
  for (const std::size_t threads : {0UL, 1UL, 3UL}) {
    Workers workers(threads);
    for (int round = 0; round < 200; ++round) {
      for (const std::size_t count : {0UL, 1UL, 2UL, 100UL}) {
        std::vector<int> done(count, 0);
        workers.for_each(count, [&done](std::size_t i) { ++done[i]; });
        EXPECT_EQ(done, std::vector<int>(count, 1));
      }
    }
  }
}

TEST(Workers, MayEndUnused) { const Workers workers(4); }

TEST(Workers, ShareTheWork) {
  Workers workers(1);
  std::atomic<int> arrived = 0;
  // Each piece waits for the other, so a single thread would never finish.
  workers.for_each(2, [&arrived](std::size_t) {
    ++arrived;
    while (arrived < 2) {
    }
  });
  EXPECT_EQ(arrived, 2);
}

}  // namespace
}  // namespace holdfast::loop
