// What virtual time refuses, and what it says when it cannot go on.

#include "test/support/virtual_time.h"

#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "platform/loop/event.h"
#include "platform/loop/tasks.h"
#include "platform/loop/timer.h"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

constexpr auto refused = "opens a socket of the kernel";

asio::awaitable<void> wait_for_ever(loop::Event& never) { co_await never.wait(); }

TEST(VirtualTimeDeathTest, OpensNoSocketOfTheKernel) {
  EXPECT_DEATH(
      {
        const VirtualTime time;
        (void)::socket(AF_UNIX, SOCK_STREAM, 0);
      },
      refused);
  EXPECT_DEATH(
      {
        VirtualTime time;
        asio::ip::tcp::socket socket(time.executor(), asio::ip::tcp::v4());
      },
      refused);
  EXPECT_DEATH(
      {
        const VirtualTime time;
        int ends[2];
        (void)::socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
      },
      refused);
}

TEST(VirtualTimeDeathTest, NamesTheTasksThatWaitForEver) {
  EXPECT_DEATH(
      {
        VirtualTime time;
        loop::Event never(time.executor());
        loop::Tasks tasks(time.executor());
        tasks.spawn("first", wait_for_ever(never));
        tasks.spawn("second", wait_for_ever(never));
        time.complete(wait_for_ever(never));
      },
      "waits for ever; tasks: first, second");
}

asio::awaitable<void> run_for_ever() {
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  for (;;) co_await asio::post(executor, asio::use_awaitable);
}

TEST(VirtualTimeDeathTest, NamesTheTasksThatRunForEver) {
  EXPECT_DEATH(
      {
        VirtualTime time({.warn_after = 0s, .end_after = 1s});
        loop::Tasks tasks(time.executor());
        tasks.spawn("busy", run_for_ever());
        time.run(1h);
      },
      "not advanced for 0 s; tasks: busy(.|\n)*virtual time does not advance; tasks: busy");
}

TEST(VirtualTime, KnowsTheTasksThatRun) {
  VirtualTime time;
  EXPECT_EQ(time.tasks(), "none");
  {
    loop::Event go(time.executor());
    loop::Tasks some(time.executor());
    loop::Tasks others(time.executor());
    some.spawn("a", wait_for_ever(go));
    others.spawn("b", wait_for_ever(go));
    some.spawn("c", loop::wait_for(1h));
    EXPECT_EQ(time.tasks(), "a, c, b");
    time.run(2h);
    EXPECT_EQ(time.tasks(), "a, b");
    go.notify_all();
    time.settle();
    EXPECT_EQ(time.tasks(), "none");
  }
}

}  // namespace
}  // namespace holdfast::test
