// Resetting a connection instead of closing it.

#include <boost/asio/this_coro.hpp>

#include "platform/net/transport.h"
#include "test/support/run.h"

namespace holdfast::net {
namespace {

using namespace std::chrono_literals;

struct Ends {
  std::unique_ptr<Connection> near;
  std::unique_ptr<Connection> far;
};

asio::awaitable<void> connect_ends(Ends& ends) {
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  const MonoTime deadline = test::VirtualClock::begin + 10s;
  const auto listener = Listener::open(executor, {"127.0.0.1", 0}, nullptr).value();
  const HostPort at{"127.0.0.1", listener->port()};
  auto near = co_await connect(at, nullptr, deadline);
  auto pending = co_await listener->accept();
  auto far = co_await (*pending)->establish(deadline);
  ends.near = std::move(near).value();
  ends.far = std::move(far).value();
}

TEST(Reset, ThePeerSeesAResetInsteadOfAnEnd) {
  test::run([](asio::io_context&) -> asio::awaitable<void> {
    std::vector<char> buffer(16);
    Ends closed;
    co_await connect_ends(closed);
    closed.near->close();
    const auto end = co_await closed.far->read_some(buffer);
    EXPECT_EQ(end.value_or(99), 0U);

    Ends reset;
    co_await connect_ends(reset);
    reset.near->reset();
    const auto broken = co_await reset.far->read_some(buffer);
    EXPECT_FALSE(broken);
    if (broken) co_return;
    EXPECT_EQ(broken.error().code, Errc::unavailable);
    EXPECT_EQ(broken.error().cause, std::errc::connection_reset);
  });
}

}  // namespace
}  // namespace holdfast::net
