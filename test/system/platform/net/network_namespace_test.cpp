// NetworkNamespace: a socket stays where it was created, and the thread returns.

#include "platform/net/network_namespace.h"

#include <unistd.h>

#include "platform/net/transport.h"
#include "test/support/real_time.h"

namespace holdfast::net {
namespace {

using namespace std::chrono_literals;

TEST(NetworkNamespace, SocketsStayWhereTheyWereCreated) {
  auto created = NetworkNamespace::create();
  if (geteuid() != 0) {
    ASSERT_FALSE(created);
    EXPECT_EQ(created.error().code, Errc::denied) << created.error().what;
    return;
  }
  ASSERT_TRUE(created) << created.error().what;
  const auto space = std::make_shared<const NetworkNamespace>(*std::move(created));
  EXPECT_FALSE(space->has(getpid())) << "create() returns to our own";
  EXPECT_FALSE(space->has(0)) << "no such process";
  test::run_in_real_time([space](boost::asio::io_context& context) -> boost::asio::awaitable<void> {
    std::unique_ptr<Listener> listener;
    {
      const InsideNamespace inside(space.get());
      EXPECT_TRUE(space->has(gettid()));
      auto opened = Listener::open(context.get_executor(), {"127.0.0.1", 0}, nullptr);
      if (opened) listener = *std::move(opened);
    }
    EXPECT_FALSE(space->has(gettid()));
    EXPECT_TRUE(listener);
    if (!listener) co_return;
    const HostPort at{"127.0.0.1", listener->port()};
    const std::shared_ptr<const NetworkNamespace> ours;
    const MonoTime deadline = SystemClock().mono() + 5s;
    const auto outside = co_await connect_inside(ours, at, deadline);
    EXPECT_FALSE(outside) << "nothing listens on this port of our own namespace";
    const auto within = co_await connect_inside(space, at, deadline);
    EXPECT_TRUE(within) << (within ? "" : within.error().what);
    const auto accepted = co_await listener->accept();
    EXPECT_TRUE(accepted);
    const HostPort name{"localhost", 1};
    const auto named = co_await connect_inside(space, name, deadline);
    EXPECT_EQ(named ? "" : named.error().what, "connect to localhost:1: not an IP address");
    listener->close();
  });
}

}  // namespace
}  // namespace holdfast::net
