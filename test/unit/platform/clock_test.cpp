// Each loop has a clock of its own, and its timers follow that clock alone.

#include "platform/loop/clock.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/this_coro.hpp>

#include "platform/loop/tasks.h"
#include "platform/loop/timer.h"
#include "test/support/virtual_time.h"

namespace holdfast::loop {
namespace {

using namespace std::chrono_literals;

asio::awaitable<void> sleep_and_note(Duration duration, MonoTime& woken) {
  co_await wait_for(duration);
  woken = clock_of(co_await asio::this_coro::executor).mono();
}

TEST(LoopClock, LoopsWithDifferentClocksDoNotMixTheirTimes) {
  test::VirtualTime left;
  test::VirtualTime right;
  const MonoTime began = left.clock().mono();
  ASSERT_EQ(right.clock().mono(), began);
  MonoTime left_woken{};
  MonoTime right_woken{};
  Tasks left_tasks(left.executor());
  Tasks right_tasks(right.executor());
  left_tasks.spawn("left", sleep_and_note(10s, left_woken));
  right_tasks.spawn("right", sleep_and_note(1h, right_woken));
  left.run(2h);
  right.run(30min);
  EXPECT_GE(left_woken, began + 10s);
  EXPECT_LT(left_woken, began + 11s);
  EXPECT_EQ(right_woken, MonoTime()) << "only its own clock counts";
  right.run(31min);
  EXPECT_GE(right_woken, began + 1h);
  EXPECT_LT(right_woken, began + 1h + 1s);
}

TEST(LoopClock, ATimerThatIsOverdueFiresAtOnce) {
  test::VirtualTime time;
  for (const MonoTime due : {MonoTime::min(), MonoTime() - 1h, MonoTime(), time.clock().mono()}) {
    bool fired = false;
    Timer timer(time.executor(), due);
    timer.async_wait([&fired](const boost::system::error_code& ec) { fired = !ec; });
    time.settle();
    EXPECT_TRUE(fired) << due.time_since_epoch().count();
  }
}

TEST(LoopClock, ATimerCanBeSetAgain) {
  test::VirtualTime time;
  int cancelled = 0;
  int fired = 0;
  const auto on_end = [&cancelled, &fired](const boost::system::error_code& ec) {
    ++(ec ? cancelled : fired);
  };
  Timer timer(time.executor(), MonoTime::max());
  timer.async_wait(on_end);
  time.run(1h);
  EXPECT_EQ(timer.expires_at(time.clock().mono() + 1min), 1u);
  timer.async_wait(on_end);
  time.run(59s);
  EXPECT_EQ(cancelled, 1);
  EXPECT_EQ(fired, 0);
  time.run(2s);
  EXPECT_EQ(fired, 1);
}

TEST(LoopClockDeathTest, ALoopWithoutAClockIsABug) {
  asio::io_context context;
  EXPECT_DEATH((void)clock_of(context.get_executor()), "was given no clock");
}

}  // namespace
}  // namespace holdfast::loop
