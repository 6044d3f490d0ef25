#include "agent/lab/faults/fault_proxy.h"

#include <boost/asio/this_coro.hpp>

#include "platform/http/client.h"
#include "platform/http/server.h"
#include "platform/loop/timer.h"
#include "test/support/run.h"

namespace holdfast::agent {
namespace {

using namespace std::chrono_literals;

TEST(FaultProxy, FaultsAreReadAndWritten) {
  const std::pair<std::string, std::string> good[] = {
      {"pass", "pass"},
      {"refuse", "refuse"},
      {"black-hole", "black-hole"},
      {"delay=300ms", "pass,delay=300ms"},
      {"limit=2000", "pass,limit=2000"},
      {"delay=1s,limit=5", "pass,delay=1s,limit=5"},
      {"refuse,pass", "pass"},
  };
  for (const auto& [text, canonical] : good) {
    const auto fault = Fault::parse(text);
    ASSERT_TRUE(fault) << text;
    EXPECT_EQ(fault->text(), canonical);
    EXPECT_EQ(Fault::parse(fault->text()).value(), *fault);
  }
  for (const char* text : {"", "nonsense", "delay=", "delay=soon", "limit=0", "limit=-1", "limit",
                           "pass,", "Refuse"}) {
    const auto fault = Fault::parse(text);
    ASSERT_FALSE(fault) << text;
    EXPECT_EQ(fault.error().code, Errc::invalid) << text;
  }
}

asio::awaitable<http::Response> hello(const http::Request& request) {
  http::Response response;
  response.body = "hello " + request.target;
  co_return response;
}

// A server behind a fault proxy.
struct ProxyFixture {
  explicit ProxyFixture(asio::io_context& context) : server(context.get_executor(), {}, hello) {
    auto listener = net::Listener::open(context.get_executor(), {"127.0.0.1", 0}, nullptr).value();
    const std::uint16_t port = listener->port();
    server.listen(std::move(listener));
    proxy = FaultProxy::open(context.get_executor(), {"127.0.0.1", 0}, {"127.0.0.1", port}).value();
  }
  asio::awaitable<void> stop() {
    co_await proxy->stop();
    co_await server.stop(SystemClock().mono() + 5s);
  }
  [[nodiscard]] http::Endpoint through() const { return {.at = {"127.0.0.1", proxy->port()}}; }

  http::Server server;
  std::unique_ptr<FaultProxy> proxy;
};

asio::awaitable<std::string> ask(http::Client& client, Duration limit) {
  http::Request request{.target = "/x"};
  const auto answer = co_await client.send(std::move(request), SystemClock().mono() + limit);
  if (answer) co_return answer->body;
  co_return std::string(to_string(answer.error().code));
}

asio::awaitable<void> expect(http::Client& client, Duration limit, const char* answer) {
  const std::string got = co_await ask(client, limit);
  EXPECT_EQ(got, answer);
}

TEST(FaultProxy, PassesRefusesAndPassesAgain) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    ProxyFixture fixture(context);
    http::Client client(fixture.through());
    co_await expect(client, 10s, "hello /x");
    const std::uint16_t port = fixture.proxy->port();
    fixture.proxy->set(Fault::parse("refuse").value());
    for (int i = 0; i < 3; ++i) co_await expect(client, 10s, "unavailable");
    fixture.proxy->set({});
    EXPECT_EQ(fixture.proxy->port(), port);
    co_await expect(client, 10s, "hello /x");
    co_await fixture.stop();
  });
}

TEST(FaultProxy, ABlackHoleAnswersNothingOnOldAndNewConnections) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    ProxyFixture fixture(context);
    http::Client old(fixture.through());
    http::Client fresh(fixture.through());
    co_await expect(old, 10s, "hello /x");
    fixture.proxy->set(Fault::parse("black-hole").value());
    co_await expect(old, 50ms, "timeout");
    co_await expect(fresh, 50ms, "timeout");
    fixture.proxy->set({});
    co_await expect(old, 10s, "hello /x");
    co_await expect(fresh, 10s, "hello /x");
    co_await fixture.stop();
  });
}

asio::awaitable<void> ask_into(std::shared_ptr<http::Client> client, std::string& into) {
  into = co_await ask(*client, 10s);
}

TEST(FaultProxy, WhatABlackHoleSwallowedDoesNotPassWhileRefusing) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    ProxyFixture fixture(context);
    const auto client = std::make_shared<http::Client>(fixture.through());
    fixture.proxy->set(Fault::parse("black-hole").value());
    std::string answer;
    loop::Tasks tasks(context.get_executor());
    tasks.spawn("ask", ask_into(client, answer));
    // Connections are accepted in order: once a later one hangs, this one was accepted.
    http::Client later(fixture.through());
    co_await expect(later, 50ms, "timeout");
    fixture.proxy->set(Fault::parse("refuse").value());
    co_await tasks.join();
    EXPECT_EQ(answer, "unavailable");
    co_await fixture.stop();
  });
}

TEST(FaultProxy, DelaysAndThrottles) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    ProxyFixture fixture(context);
    http::Client client(fixture.through());
    fixture.proxy->set(Fault::parse("delay=30ms").value());
    MonoTime began = SystemClock().mono();
    co_await expect(client, 10s, "hello /x");
    EXPECT_GE(SystemClock().mono() - began, 60ms) << "both directions are delayed";
    fixture.proxy->set(Fault::parse("limit=1000").value());
    began = SystemClock().mono();
    co_await expect(client, 10s, "hello /x");
    EXPECT_GE(SystemClock().mono() - began, 60ms) << "more than 60 bytes at 1000 a second";
    co_await fixture.stop();
  });
}

}  // namespace
}  // namespace holdfast::agent
