// Work on threads of its own, and its loop.

#include "platform/loop/background.h"

#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <csignal>
#include <future>
#include <memory>
#include <thread>

#include "test/support/virtual_time.h"

namespace holdfast::loop {
namespace {

TEST(Background, WorksOnAThreadOfItsOwnAndFinishesOnTheLoop) {
  asio::io_context loop;
  auto until_done = asio::make_work_guard(loop);
  std::thread::id worked;
  std::thread::id finished;
  bool term_is_blocked = false;
  const Status begun = run_in_background(
      loop.get_executor(),
      [&worked, &term_is_blocked] {
        worked = std::this_thread::get_id();
        sigset_t blocked;
        pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
        term_is_blocked = sigismember(&blocked, SIGTERM) == 1;
      },
      [&finished, &until_done] {
        finished = std::this_thread::get_id();
        until_done.reset();
      });
  ASSERT_TRUE(begun);
  EXPECT_EQ(finished, std::thread::id()) << "never before the loop runs";
  loop.run();
  EXPECT_NE(worked, std::this_thread::get_id());
  EXPECT_NE(worked, std::thread::id());
  EXPECT_TRUE(term_is_blocked);
  EXPECT_EQ(finished, std::this_thread::get_id());
}

TEST(Background, DoesNotKeepItsLoopFromEnding) {
  std::promise<void> gate;
  std::promise<void> end;
  bool finished = false;
  auto owned = std::make_shared<int>(7);
  const std::weak_ptr<int> watched = owned;
  {
    asio::io_context loop;
    const Status begun = run_in_background(
        loop.get_executor(),
        [opened = gate.get_future().share(), &end] {
          opened.wait();
          end.set_value();
        },
        [&finished, kept = std::move(owned)] { finished = true; });
    ASSERT_TRUE(begun);
    loop.run();
    EXPECT_FALSE(watched.expired());
  }
  EXPECT_TRUE(watched.expired()) << "what was left to do ends with the loop";
  gate.set_value();
  end.get_future().wait();
  EXPECT_FALSE(finished);
}

TEST(Background, FinishesManyInAnyOrder) {
  asio::io_context loop;
  auto until_done = asio::make_work_guard(loop);
  std::atomic<int> worked = 0;
  int finished = 0;
  constexpr int many = 50;
  for (int number = 0; number < many; ++number) {
    const Status begun = run_in_background(
        loop.get_executor(), [&worked] { ++worked; },
        [&finished, &until_done] {
          if (++finished == many) until_done.reset();
        });
    ASSERT_TRUE(begun);
  }
  loop.run();
  EXPECT_EQ(worked, many);
  EXPECT_EQ(finished, many);
}

TEST(Background, WorksOnTheCallingThreadInVirtualTime) {
  test::VirtualTime time;
  std::thread::id worked;
  bool finished = false;
  ASSERT_TRUE(run_in_background(
      time.executor(), [&worked] { worked = std::this_thread::get_id(); },
      [&finished] { finished = true; }));
  EXPECT_EQ(worked, std::this_thread::get_id());
  EXPECT_FALSE(finished);
  time.settle();
  EXPECT_TRUE(finished);
}

}  // namespace
}  // namespace holdfast::loop
