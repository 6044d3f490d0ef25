// A listener and connections over the network in memory, whose operations are started one by one.

#pragma once

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <utility>

#include "platform/loop/tasks.h"
#include "platform/net/memory_network.h"
#include "test/support/virtual_time.h"

namespace holdfast::net {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace)
using ConnectionPtr = std::shared_ptr<Connection>;
using TlsPtr = std::shared_ptr<const tls::Context>;

inline const HostPort anywhere{"127.0.0.1", 0};

// What an operation gave: its text appears when it ends.
using Told = std::shared_ptr<std::string>;

struct Ends {
  ConnectionPtr client;
  ConnectionPtr server;
};

class MemoryNetworkTest : public ::testing::Test {
 protected:
  ~MemoryNetworkTest() override {
    listener_.reset();
    ends_ = {};
    tasks_.cancel();
    time_.settle();
  }

  void listen(const HostPort& at = anywhere, TlsPtr tls = nullptr) {
    listener_ = Listener::open(time_.executor(), at, std::move(tls)).value();
    at_ = {at.host, listener_->port()};
  }

  Told connect(HostPort to, Duration limit = 10s, TlsPtr tls = nullptr) {
    auto told = std::make_shared<std::string>();
    tasks_.spawn("connect", connecting(*this, std::move(to), std::move(tls),
                                       time_.clock().mono() + limit, told));
    time_.settle();
    return told;
  }

  Told accept(Duration limit = 10s) {
    auto told = std::make_shared<std::string>();
    tasks_.spawn("accept", accepting(*this, time_.clock().mono() + limit, told));
    time_.settle();
    return told;
  }

  // Both ends of a new connection to at_.
  Ends open() {
    const Told accepted = accept();
    const Told connected = connect(at_);
    time_.run_until(10s, [&] { return !accepted->empty() && !connected->empty(); });
    EXPECT_EQ(*accepted, "accepted");
    EXPECT_EQ(*connected, "connected");
    return ends_;
  }

  // Starts a read. Its text is what was read, "(end)" or the error.
  Told read(ConnectionPtr from) {
    auto told = std::make_shared<std::string>();
    tasks_.spawn("read", reading(std::move(from), told));
    time_.settle();
    return told;
  }
  Told write(ConnectionPtr to, std::string bytes) {
    auto told = std::make_shared<std::string>();
    tasks_.spawn("write", writing(std::move(to), std::move(bytes), told));
    time_.settle();
    return told;
  }

  static asio::awaitable<void> connecting(MemoryNetworkTest& test, HostPort to, TlsPtr tls,
                                          MonoTime deadline, Told told) {
    auto made = co_await net::connect(std::move(to), std::move(tls), deadline);
    *told = made ? "connected" : made.error().what;
    if (made) test.ends_.client = *std::move(made);
  }
  static asio::awaitable<void> accepting(MemoryNetworkTest& test, MonoTime deadline, Told told) {
    auto pending = co_await test.listener_->accept();
    if (!pending) {
      *told = pending.error().what;
      co_return;
    }
    auto made = co_await (*pending)->establish(deadline);
    *told = made ? "accepted" : made.error().what;
    if (made) test.ends_.server = *std::move(made);
  }
  static asio::awaitable<void> reading(ConnectionPtr from, Told told) {
    std::array<char, 1000> block{};
    const auto count = co_await from->read_some(block);
    *told = !count ? count.error().what : *count == 0 ? "(end)" : std::string(block.data(), *count);
  }
  static asio::awaitable<void> writing(ConnectionPtr to, std::string bytes, Told told) {
    const Status sent = co_await to->write(bytes);
    *told = sent ? "sent" : sent.error().what;
  }

  test::VirtualTime time_;
  MemoryNetwork& network_ = time_.network();
  loop::Tasks tasks_{time_.executor()};
  std::unique_ptr<Listener> listener_;
  HostPort at_;
  Ends ends_;
};

}  // namespace holdfast::net
