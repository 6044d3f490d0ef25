#include "platform/loop/workers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <thread>
#include <vector>

#include "test/support/virtual_time.h"

namespace holdfast::loop {
namespace {

TEST(Workers, DoEachPieceOnceAndAllBeforeTheyReturn) {
  asio::io_context loop;
  for (const std::size_t threads : {0UL, 1UL, 3UL}) {
    Workers workers(loop.get_executor(), threads);
    for (int round = 0; round < 200; ++round) {
      for (const std::size_t count : {0UL, 1UL, 2UL, 100UL}) {
        std::vector<int> done(count, 0);
        workers.for_each(count, [&done](std::size_t i) { ++done[i]; });
        EXPECT_EQ(done, std::vector<int>(count, 1));
      }
    }
  }
}

TEST(Workers, MayEndUnused) {
  asio::io_context loop;
  const Workers workers(loop.get_executor(), 4);
}

TEST(Workers, ShareTheWork) {
  asio::io_context loop;
  Workers workers(loop.get_executor(), 1);
  std::atomic<int> arrived = 0;
  // Each piece waits for the other, so a single thread would never finish.
  workers.for_each(2, [&arrived](std::size_t) {
    ++arrived;
    while (arrived < 2) {
    }
  });
  EXPECT_EQ(arrived, 2);
}

TEST(Workers, DoEverythingInOrderOnTheCallingThreadInVirtualTime) {
  test::VirtualTime time;
  Workers workers(time.executor(), 3);
  std::vector<std::size_t> order;
  std::vector<std::thread::id> threads;
  workers.for_each(4, [&order, &threads](std::size_t i) {
    order.push_back(i);
    threads.push_back(std::this_thread::get_id());
  });
  EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 2, 3}));
  EXPECT_EQ(threads, std::vector(4, std::this_thread::get_id()));
}

}  // namespace
}  // namespace holdfast::loop
