// How the end of one side is told in TLS.

#include <gtest/gtest.h>

#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/this_coro.hpp>

#include "platform/loop/cancellation.h"
#include "platform/loop/tasks.h"
#include "platform/net/transport.h"
#include "platform/tls/context.h"
#include "test/support/certificates.h"
#include "test/support/real_time.h"

namespace holdfast::net {
namespace {

using Bytes = std::string;

const test::Authority& authority() {
  static const test::Authority made("our ca");
  return made;
}

// Says something, ends its side twice, and reads to the end.
asio::awaitable<void> end_first(Listener& at, Bytes& heard) {
  auto pending = co_await at.accept();
  auto made = co_await (*pending)->establish(MonoTime::max());
  const std::shared_ptr<Connection> connection = *std::move(made);
  (void)co_await connection->write("said");
  connection->shutdown_write();
  connection->shutdown_write();  // a second call has no effect
  std::array<char, 100> buffer{};
  for (;;) {
    const auto count = co_await connection->read_some(buffer);
    heard.append(buffer.data(), count.value_or(0));
    if (count && *count > 0) continue;
    heard += count ? "<end>" : "<cut>";
    co_return;
  }
}

// Reads to the end and replies. OpenSSL alone shows how the end was told.
asio::awaitable<boost::system::error_code> reply_at_end(std::uint16_t port, Bytes& heard) {
  namespace ssl = boost::asio::ssl;
  using boost::asio::ip::tcp;
  const auto tls = tls::Context::for_client({.ca_pem = authority().certificate_pem()}).value();
  boost::system::error_code ec;
  tcp::socket socket(co_await asio::this_coro::executor);
  const tcp::endpoint at(boost::asio::ip::make_address("127.0.0.1"), port);
  co_await socket.async_connect(at, loop::into(ec));
  ssl::stream<tcp::socket> stream(std::move(socket), tls->native());
  co_await stream.async_handshake(ssl::stream_base::client, loop::into(ec));
  std::array<char, 100> buffer{};
  while (!ec) {
    const auto space = boost::asio::buffer(buffer);
    const std::size_t count = co_await stream.async_read_some(space, loop::into(ec));
    heard.append(buffer.data(), count);
  }
  boost::system::error_code ignored;
  const Bytes reply = "still here";
  co_await boost::asio::async_write(stream, boost::asio::buffer(reply), loop::into(ignored));
  stream.next_layer().shutdown(tcp::socket::shutdown_send, ignored);
  co_return ec;
}

// In TLS, an orderly end (close_notify) differs from a cut connection. Our server must send it.
// Over a real socket, because a Connection does not tell the two apart.
TEST(TlsEnd, OfOneSideIsTold) {
  test::run_in_real_time([](asio::io_context& context) -> asio::awaitable<void> {
    const test::Subject subject{.common_name = "server", .names = {"IP:127.0.0.1"}};
    const auto tls = tls::Context::for_server({.identity = authority().sign(subject)}).value();
    const auto listener = Listener::open(context.get_executor(), {"127.0.0.1", 0}, tls).value();
    loop::Tasks tasks(context.get_executor());
    Bytes to_server;
    Bytes to_client;
    tasks.spawn("server", end_first(*listener, to_server));
    const auto end = co_await reply_at_end(listener->port(), to_client);
    co_await tasks.join();
    EXPECT_EQ(to_client, "said");
    EXPECT_EQ(end, boost::asio::error::eof)
        << end.message() << ": a cut connection gives another error";
    EXPECT_EQ(to_server, "still here<end>");
  });
}

}  // namespace
}  // namespace holdfast::net
