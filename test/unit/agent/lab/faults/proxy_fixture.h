// A fault proxy on loopback between clients and a server that the test plays itself, in virtual
// time.

#pragma once

#include <boost/asio/this_coro.hpp>

#include "agent/lab/faults/fault_proxy.h"
#include "test/support/virtual_time.h"

namespace holdfast::agent::faults {

// Both ends of one connection through the proxy; `server` is null if it was not connected.
struct ProxiedEnds {
  std::unique_ptr<net::Connection> client;
  std::unique_ptr<net::Connection> server;
};

class ProxyFixture {
 public:
  explicit ProxyFixture(FaultProxySettings settings = {})
      : server_(net::Listener::open(time.executor(), {"127.0.0.1", 0}, nullptr).value()),
        proxy(FaultProxy::open(time.executor(), {"127.0.0.1", 0}, {"127.0.0.1", server_->port()},
                               std::move(settings))
                  .value()) {
    acceptor_.spawn("accept", accept_all(server_, accepted));
  }
  ~ProxyFixture() {
    server_->close();
    accepted.clear();
    if (proxy) time.complete(proxy->stop());
    time.settle();
  }
  ProxyFixture(const ProxyFixture&) = delete;
  ProxyFixture& operator=(const ProxyFixture&) = delete;

  void set(std::string_view toxics) { EXPECT_TRUE(proxy->set(parse_toxics(toxics).value())); }

  // Connects a client; null if it is refused.
  std::unique_ptr<net::Connection> connect() {
    std::unique_ptr<net::Connection> client;
    time.complete(connect_to({"127.0.0.1", proxy->port()}, client));
    time.settle();
    return client;
  }
  ProxiedEnds open() {
    ProxiedEnds ends{connect(), nullptr};
    if (accepted.empty()) return ends;
    ends.server = std::move(accepted.back());
    accepted.pop_back();
    return ends;
  }

  bool send(net::Connection& from, const std::string& bytes) {
    bool sent = false;
    time.complete(write_all(from, bytes, sent));
    time.settle();
    return sent;
  }
  // What arrives within `limit`, up to `most` bytes: the bytes, and then "(end)", "(reset)" or
  // "(silence)" if that stopped it.
  std::string receive(net::Connection& at, Duration limit, std::size_t most = 1UL << 30) {
    std::string got;
    at.expires_at(time.clock().mono() + limit);
    time.complete(read_all(at, most, got));
    at.expires_at(MonoTime::max());
    return got;
  }
  // How long a byte takes from one end to the other.
  Duration delay(net::Connection& from, net::Connection& to) {
    const MonoTime began = time.clock().mono();
    EXPECT_TRUE(send(from, "x"));
    EXPECT_EQ(receive(to, std::chrono::minutes(1), 1), "x");
    return time.clock().mono() - began;
  }

  test::VirtualTime time;

 private:
  using Accepted = std::vector<std::unique_ptr<net::Connection>>;

  static asio::awaitable<void> accept_all(std::shared_ptr<net::Listener> on, Accepted& into) {
    const Clock& clock = loop::clock_of(co_await asio::this_coro::executor);
    for (;;) {
      auto pending = co_await on->accept();
      if (!pending) co_return;
      auto connection = co_await (*pending)->establish(clock.mono() + std::chrono::seconds(1));
      if (connection) into.push_back(*std::move(connection));
    }
  }
  static asio::awaitable<void> connect_to(net::HostPort at,
                                          std::unique_ptr<net::Connection>& client) {
    const Clock& clock = loop::clock_of(co_await asio::this_coro::executor);
    const MonoTime deadline = clock.mono() + std::chrono::seconds(1);
    auto connected = co_await net::connect(at, nullptr, deadline);
    if (connected) client = *std::move(connected);
  }
  static asio::awaitable<void> write_all(net::Connection& to, const std::string& bytes,
                                         bool& sent) {
    const Status written = co_await to.write(bytes);
    sent = written.has_value();
  }
  static asio::awaitable<void> read_all(net::Connection& from, std::size_t most, std::string& got) {
    std::vector<char> buffer(64UL * 1024);
    while (got.size() < most) {
      const auto count = co_await from.read_some(buffer);
      if (count && *count > 0) {
        got.append(buffer.data(), *count);
        continue;
      }
      if (count) {
        got += "(end)";
      } else {
        got += count.error().code == Errc::timeout ? "(silence)" : "(reset)";
      }
      co_return;
    }
  }

  std::shared_ptr<net::Listener> server_;
  loop::Tasks acceptor_{time.executor()};

 public:
  Accepted accepted;  // by the server, and not yet taken by open()
  std::unique_ptr<FaultProxy> proxy;
};

}  // namespace holdfast::agent::faults
