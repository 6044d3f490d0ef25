// ReservedAddress: its port stays its own, whether something listens or not.

#include "platform/net/reserved_address.h"

#include <gtest/gtest.h>

#include <optional>

#include "test/support/real_time.h"

namespace holdfast::net {
namespace {

constexpr MonoTime no_deadline = MonoTime::max();

TEST(ReservedAddress, RefusesConnectionsUntilSomethingListens) {
  test::run_in_real_time([](asio::io_context& context) -> asio::awaitable<void> {
    auto address = ReservedAddress::open(context.get_executor(), {"127.0.0.1", 0}).value();
    const HostPort at = address.at();
    EXPECT_NE(at.port, 0);
    for (int round = 0; round < 3; ++round) {
      const auto refused = co_await connect(at, nullptr, no_deadline);
      EXPECT_EQ(refused.error().code, Errc::unavailable);
      auto listener = address.listen(nullptr).value();
      EXPECT_EQ(listener->port(), at.port);
      const auto connected = co_await connect(at, nullptr, no_deadline);
      EXPECT_TRUE(connected.has_value());
      listener->close();
    }
  });
}

TEST(ReservedAddress, IsNobodyElses) {
  test::run_in_real_time([](asio::io_context& context) -> asio::awaitable<void> {
    const auto executor = context.get_executor();
    auto address = std::make_optional(ReservedAddress::open(executor, {"127.0.0.1", 0}).value());
    const HostPort at = address->at();
    const auto is_taken = [&] {
      const auto listener = Listener::open(executor, at, nullptr);
      const auto reserved = ReservedAddress::open(executor, at);
      return !listener && !reserved && listener.error().code == Errc::unavailable &&
             reserved.error().code == Errc::unavailable;
    };
    EXPECT_TRUE(is_taken());
    auto listener = address->listen(nullptr).value();
    EXPECT_TRUE(is_taken());
    EXPECT_FALSE(address->listen(nullptr)) << "one listener at a time";
    listener.reset();
    EXPECT_TRUE(is_taken());
    address.reset();
    EXPECT_TRUE(Listener::open(executor, at, nullptr));
    co_return;
  });
}

TEST(ReservedAddress, NamesWhatIsWrong) {
  test::run_in_real_time([](asio::io_context& context) -> asio::awaitable<void> {
    const auto named = ReservedAddress::open(context.get_executor(), {"localhost", 80});
    EXPECT_EQ(named.error().code, Errc::invalid);
    EXPECT_EQ(named.error().what, "listen address localhost:80: not an IP address");
    co_return;
  });
}

}  // namespace
}  // namespace holdfast::net
