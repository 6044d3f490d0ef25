// The fault proxy in virtual time: toxics on new and existing connections.

#include "agent/lab/faults/fault_proxy.h"

#include "platform/net/reserved_address.h"

#include "test/unit/agent/lab/faults/proxy_fixture.h"

namespace holdfast::agent::faults {
namespace {

using namespace std::chrono_literals;

TEST(FaultProxy, PassesBytesAndEndsBothWays) {
  ProxyFixture fixture;
  ProxiedEnds ends = fixture.open();
  ASSERT_TRUE(ends.server);
  EXPECT_TRUE(fixture.send(*ends.client, "question"));
  EXPECT_EQ(fixture.receive(*ends.server, 1s, 8), "question");
  ends.client->shutdown_write();
  EXPECT_EQ(fixture.receive(*ends.server, 1s), "(end)");
  EXPECT_TRUE(fixture.send(*ends.server, "answer")) << "the other direction goes on";
  EXPECT_EQ(fixture.receive(*ends.client, 1s), "answer(silence)");
  EXPECT_EQ(fixture.proxy->connections(), 1U);
  ends.server->shutdown_write();
  EXPECT_EQ(fixture.receive(*ends.client, 1s), "(end)");
  fixture.time.settle();
  EXPECT_EQ(fixture.proxy->connections(), 0U);
  EXPECT_EQ(fixture.proxy->traffic(Stream::upstream).received, 8U);
  EXPECT_EQ(fixture.proxy->traffic(Stream::downstream).sent, 6U);
}

TEST(FaultProxy, PassesMuchMoreThanItHolds) {
  ProxyFixture fixture;
  ProxiedEnds ends = fixture.open();
  const std::string much(20UL << 20, 'x');
  loop::Tasks sender(fixture.time.executor());
  bool sent = false;
  const auto send = [](net::Connection& to, const std::string& bytes,
                       bool& done) -> asio::awaitable<void> {
    const Status written = co_await to.write(bytes);
    done = written.has_value();
  };
  sender.spawn("send", send(*ends.client, much, sent));
  EXPECT_EQ(fixture.receive(*ends.server, 1s, much.size()), much);
  EXPECT_TRUE(sent);
}

TEST(FaultProxy, PassesAResetOn) {
  ProxyFixture fixture;
  ProxiedEnds ends = fixture.open();
  ends.client->reset();
  EXPECT_EQ(fixture.receive(*ends.server, 1s), "(reset)");
  ends = fixture.open();
  ends.server->reset();
  EXPECT_EQ(fixture.receive(*ends.client, 1s), "(reset)");
}

TEST(FaultProxy, DelaysAndThrottlesEachDirection) {
  ProxyFixture fixture;
  ProxiedEnds ends = fixture.open();
  EXPECT_EQ(fixture.delay(*ends.client, *ends.server), 0ms);
  fixture.set("latency latency=40 stream=upstream, latency latency=60");
  EXPECT_EQ(fixture.delay(*ends.client, *ends.server), 40ms);
  EXPECT_EQ(fixture.delay(*ends.server, *ends.client), 60ms);
  fixture.set("latency latency=80 stream=upstream, latency latency=60");
  EXPECT_EQ(fixture.delay(*ends.client, *ends.server), 80ms);
  fixture.set("bandwidth rate=1");
  EXPECT_EQ(fixture.delay(*ends.client, *ends.server), 0ms);
  EXPECT_EQ(fixture.delay(*ends.server, *ends.client), 20ms) << "a step of the clock";
  fixture.set("");
  EXPECT_EQ(fixture.delay(*ends.server, *ends.client), 0ms);
}

TEST(FaultProxy, ABlackHoleHoldsOldAndNewConnections) {
  ProxyFixture fixture;
  ProxiedEnds old = fixture.open();
  fixture.set("black_hole");
  ProxiedEnds fresh = fixture.open();
  ASSERT_TRUE(fresh.client) << "connections are accepted";
  EXPECT_FALSE(fresh.server) << "but do not reach the server";
  for (const ProxiedEnds* ends : {&old, &fresh}) {
    EXPECT_TRUE(fixture.send(*ends->client, "hello"));
    EXPECT_EQ(fixture.receive(*ends->client, 5min), "(silence)");
  }
  EXPECT_TRUE(fixture.send(*old.server, "news"));
  EXPECT_EQ(fixture.receive(*old.server, 1s), "(silence)");
  fixture.set("");
  EXPECT_EQ(fixture.receive(*old.server, 1s), "hello(silence)");
  EXPECT_EQ(fixture.receive(*old.client, 1s), "news(silence)");
  ASSERT_EQ(fixture.accepted.size(), 1U);
  EXPECT_EQ(fixture.receive(*fixture.accepted.front(), 1s), "hello(silence)");
}

TEST(FaultProxy, ABlackHoleOfOneDirectionIsAnAsymmetricPartition) {
  ProxyFixture fixture;
  ProxiedEnds ends = fixture.open();
  fixture.set("black_hole stream=downstream");
  EXPECT_TRUE(fixture.send(*ends.client, "hello"));
  EXPECT_EQ(fixture.receive(*ends.server, 1s), "hello(silence)");
  EXPECT_TRUE(fixture.send(*ends.server, "answer"));
  EXPECT_EQ(fixture.receive(*ends.client, 1s), "(silence)");
  EXPECT_TRUE(fixture.open().server) << "the server sees new connections";
  fixture.set("black_hole stream=upstream");
  EXPECT_EQ(fixture.receive(*ends.client, 1s), "answer(silence)");
  EXPECT_FALSE(fixture.open().server);
}

TEST(FaultProxy, WhatWasGivenUpInABlackHoleNeverHappened) {
  ProxyFixture fixture;
  fixture.set("black_hole");
  std::unique_ptr<net::Connection> client = fixture.connect();
  EXPECT_TRUE(fixture.send(*client, "DELETE"));
  client->close();
  fixture.time.settle();
  EXPECT_EQ(fixture.proxy->connections(), 0U);
  fixture.set("");
  fixture.time.run(10s);
  EXPECT_TRUE(fixture.accepted.empty());
}

TEST(FaultProxy, AResetInABlackHoleDropsWhatItHeld) {
  ProxyFixture fixture;
  ProxiedEnds up = fixture.open();
  ProxiedEnds down = fixture.open();
  fixture.set("black_hole");
  EXPECT_TRUE(fixture.send(*up.client, "late"));
  EXPECT_TRUE(fixture.send(*down.server, "late"));
  EXPECT_EQ(fixture.receive(*up.server, 1s), "(silence)");
  up.client->reset();
  down.server->reset();
  EXPECT_EQ(fixture.receive(*up.server, 1s), "(silence)") << "nobody tells it";
  fixture.set("");
  EXPECT_EQ(fixture.receive(*up.server, 1s), "(reset)");
  EXPECT_EQ(fixture.receive(*down.client, 1s), "(reset)");
}

TEST(FaultProxy, RefusesAndResets) {
  ProxyFixture fixture;
  ProxiedEnds ends = fixture.open();
  const std::uint16_t port = fixture.proxy->port();
  fixture.set("refuse");
  EXPECT_EQ(fixture.receive(*ends.client, 1s), "(reset)");
  EXPECT_EQ(fixture.receive(*ends.server, 1s), "(reset)");
  EXPECT_FALSE(fixture.connect());
  EXPECT_TRUE(fixture.proxy->is_enabled());
  fixture.set("");
  EXPECT_EQ(fixture.proxy->port(), port);
  EXPECT_TRUE(fixture.open().server);
}

TEST(FaultProxy, WhatABlackHoleHeldDoesNotPassWhileRefusing) {
  ProxyFixture fixture;
  ProxiedEnds ends = fixture.open();
  fixture.set("black_hole");
  EXPECT_TRUE(fixture.send(*ends.client, "hello"));
  fixture.set("refuse");
  EXPECT_EQ(fixture.receive(*ends.server, 1s), "(reset)");
}

TEST(FaultProxy, ClosesAndResetsWhenAToxicSaysSo) {
  ProxyFixture fixture;
  ProxiedEnds ends = fixture.open();
  fixture.set("timeout timeout=100");
  EXPECT_TRUE(fixture.send(*ends.server, "dropped"));
  EXPECT_EQ(fixture.receive(*ends.client, 80ms), "(silence)");
  EXPECT_EQ(fixture.receive(*ends.client, 40ms), "(end)");
  fixture.set("reset_peer timeout=100");
  ends = fixture.open();
  EXPECT_TRUE(fixture.send(*ends.server, "dropped"));
  EXPECT_EQ(fixture.receive(*ends.client, 80ms), "(silence)");
  EXPECT_EQ(fixture.receive(*ends.client, 40ms), "(reset)");
  EXPECT_EQ(fixture.receive(*ends.server, 1s), "(reset)");
  fixture.set("limit_data bytes=5");
  ends = fixture.open();
  EXPECT_TRUE(fixture.send(*ends.server, "abcdefgh"));
  EXPECT_EQ(fixture.receive(*ends.client, 1s), "abcde(end)");
  fixture.set("slow_close delay=500");
  ends = fixture.open();
  ends.server->close();
  EXPECT_EQ(fixture.receive(*ends.client, 480ms), "(silence)");
  EXPECT_EQ(fixture.receive(*ends.client, 40ms), "(end)");
}

TEST(FaultProxy, AServerThatCannotBeReachedClosesTheClient) {
  ProxyFixture fixture;
  const auto silent = net::ReservedAddress::open(fixture.time.executor(), {"127.0.0.1", 0}).value();
  ASSERT_TRUE(fixture.proxy->move(fixture.proxy->listen(), silent.at()));
  EXPECT_EQ(fixture.receive(*fixture.connect(), 10s), "(end)");
}

TEST(FaultProxy, MovingClosesConnectionsOnlyIfSomethingChanges) {
  ProxyFixture fixture;
  ProxiedEnds ends = fixture.open();
  const net::HostPort listen = fixture.proxy->listen();
  ASSERT_TRUE(fixture.proxy->move(listen, fixture.proxy->upstream()));
  EXPECT_EQ(fixture.delay(*ends.client, *ends.server), 0ms);
  ASSERT_TRUE(fixture.proxy->move({"127.0.0.1", 0}, fixture.proxy->upstream()));
  EXPECT_EQ(fixture.receive(*ends.client, 1s), "(end)");
  EXPECT_NE(fixture.proxy->port(), 0U);
  EXPECT_TRUE(fixture.open().server);
}

TEST(FaultProxy, APortInUseIsAnErrorAndChangesNothing) {
  ProxyFixture fixture;
  const auto taken =
      net::Listener::open(fixture.time.executor(), {"127.0.0.1", 0}, nullptr).value();
  const net::HostPort listen = fixture.proxy->listen();
  ProxiedEnds ends = fixture.open();
  const auto moved = fixture.proxy->move({"127.0.0.1", taken->port()}, fixture.proxy->upstream());
  ASSERT_FALSE(moved);
  EXPECT_EQ(moved.error().code, Errc::unavailable);
  EXPECT_EQ(fixture.proxy->listen(), listen);
  EXPECT_EQ(fixture.delay(*ends.client, *ends.server), 0ms);
}

TEST(FaultProxy, KeepsItsAddressWhileItRefuses) {
  ProxyFixture fixture;
  const net::HostPort at = fixture.proxy->listen();
  const auto take = [&] {
    return net::Listener::open(fixture.time.executor(), at, nullptr).has_value();
  };
  fixture.set("refuse");
  EXPECT_FALSE(fixture.connect());
  EXPECT_FALSE(take()) << "another program would answer the proxy's clients";
  EXPECT_TRUE(fixture.proxy->remove("refuse"));
  EXPECT_TRUE(fixture.open().server);
  fixture.set("refuse");
  fixture.proxy->disable();
  EXPECT_TRUE(take()) << "a disabled proxy has released it";
  EXPECT_TRUE(fixture.proxy->enable());
  EXPECT_FALSE(take());
  EXPECT_FALSE(fixture.connect());
}

TEST(FaultProxy, IsDisabledIfItsPortIsTakenWhenItIsEnabled) {
  ProxyFixture fixture;
  fixture.proxy->disable();
  auto taken = net::Listener::open(fixture.time.executor(), fixture.proxy->listen(), nullptr);
  ASSERT_TRUE(taken);
  EXPECT_EQ(fixture.proxy->enable().error().code, Errc::unavailable);
  EXPECT_FALSE(fixture.proxy->is_enabled());
  taken.value().reset();
  EXPECT_TRUE(fixture.proxy->enable());
  EXPECT_TRUE(fixture.open().server);
}

TEST(FaultProxy, DisablingClosesConnections) {
  ProxyFixture fixture;
  ProxiedEnds ends = fixture.open();
  fixture.proxy->disable();
  EXPECT_EQ(fixture.receive(*ends.client, 1s), "(end)");
  EXPECT_FALSE(fixture.connect());
  EXPECT_TRUE(fixture.proxy->enable());
  EXPECT_TRUE(fixture.open().server);
}

TEST(FaultProxy, LimitsConnectionsAndForgetsAbandonedOnesFirst) {
  const auto load = std::make_shared<ProxyLoad>();
  load->limits.connections = 2;
  ProxyFixture fixture({.load = load});
  fixture.set("black_hole stream=downstream");
  ProxiedEnds first = fixture.open();
  ProxiedEnds second = fixture.open();
  EXPECT_EQ(fixture.receive(*fixture.connect(), 1s), "(end)") << "no room";
  first.client->close();
  fixture.time.settle();
  EXPECT_EQ(fixture.receive(*fixture.connect(), 1s), "(silence)") << "the first one was given up";
  EXPECT_EQ(fixture.receive(*second.server, 1s), "(silence)");
  EXPECT_EQ(load->connections, 2U);
  fixture.proxy.reset();
  fixture.time.settle();
  EXPECT_EQ(load->connections, 0U);
  EXPECT_EQ(load->held_bytes, 0U);
}

TEST(FaultProxy, HoldsLessWhenAllConnectionsTogetherHoldMuch) {
  const auto load = std::make_shared<ProxyLoad>();
  load->limits.held_bytes = 100'000;
  ProxyFixture fixture({.load = load});
  std::vector<ProxiedEnds> all(10);
  for (ProxiedEnds& ends : all) ends = fixture.open();
  fixture.set("black_hole");
  loop::Tasks senders(fixture.time.executor());
  const std::string much(8UL << 20, 'x');
  const auto send = [](net::Connection& to, const std::string& bytes) -> asio::awaitable<void> {
    (void)co_await to.write(bytes);
  };
  for (const ProxiedEnds& ends : all) senders.spawn("send", send(*ends.client, much));
  fixture.time.run(10s);
  EXPECT_GT(load->held_bytes, 100'000U);
  EXPECT_LT(load->held_bytes, 100'000U + 10 * 2 * load->limits.held_bytes_min);
  fixture.set("");
  for (const ProxiedEnds& ends : all) {
    EXPECT_EQ(fixture.receive(*ends.server, 1s, much.size()).size(), much.size());
  }
}

TEST(FaultProxy, NamesAreUniqueAndToxicsLimited) {
  ProxyFixture fixture;
  EXPECT_TRUE(fixture.proxy->add(cut_cable()));
  EXPECT_EQ(fixture.proxy->add(cut_cable()).error().code, Errc::conflict);
  EXPECT_EQ(fixture.proxy->remove("other").error().code, Errc::not_found);
  Toxic other = cut_cable();
  other.name = "other";
  EXPECT_EQ(fixture.proxy->change(other).error().code, Errc::not_found);
  Status added;
  for (int i = 0; added && i < 100; ++i) {
    other.name = "other-" + std::to_string(i);
    added = fixture.proxy->add(other);
  }
  EXPECT_EQ(added.error().code, Errc::exhausted);
  EXPECT_EQ(fixture.proxy->toxics().size(), ProxyLimits().toxics);
}

}  // namespace
}  // namespace holdfast::agent::faults
