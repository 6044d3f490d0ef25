// The network in memory: what Listener::open() and connect() make of it, in virtual time.

#include <optional>

#include "test/unit/platform/net/memory_network_fixture.h"

namespace holdfast::net {
namespace {

TEST_F(MemoryNetworkTest, BytesGoBothWaysAndEachDirectionEndsAlone) {
  listen();
  const Ends ends = open();
  EXPECT_EQ(*write(ends.client, "ab"), "sent");
  EXPECT_EQ(*write(ends.server, "cd"), "sent");
  EXPECT_EQ(*read(ends.server), "ab");
  EXPECT_EQ(*read(ends.client), "cd");
  const Told waiting = read(ends.server);
  EXPECT_EQ(*waiting, "");
  ends.client->shutdown_write();
  time_.settle();
  EXPECT_EQ(*waiting, "(end)");
  EXPECT_EQ(*read(ends.server), "(end)") << "again";
  EXPECT_EQ(*write(ends.client, "x"), "write: Broken pipe");
  EXPECT_EQ(*write(ends.server, "e"), "sent");
  EXPECT_EQ(*read(ends.client), "e");
  EXPECT_EQ(network_.connections(at_), 1U);
  ends.client->close();
  ends.server->close();
  EXPECT_EQ(network_.connections(at_), 0U);
}

TEST_F(MemoryNetworkTest, AClosedEndIsTheEndForItsPeerAndAnErrorForItself) {
  listen();
  const Ends ends = open();
  EXPECT_TRUE(ends.server->seems_open());
  ends.client->close();
  EXPECT_FALSE(ends.server->seems_open());
  EXPECT_EQ(*read(ends.server), "(end)");
  EXPECT_EQ(*write(ends.server, "lost"), "sent") << "it cannot know yet";
  EXPECT_EQ(*write(ends.server, "lost"), "write: Broken pipe");
  EXPECT_EQ(*read(ends.client), "read: Operation canceled");
  EXPECT_EQ(*write(ends.client, "x"), "write: Operation canceled");
}

TEST_F(MemoryNetworkTest, ResetsDropWhatIsOnItsWay) {
  listen();
  network_.set_link(at_, Direction::to_server, {.latency = 20ms});
  Ends ends = open();
  EXPECT_EQ(*write(ends.client, "arrived"), "sent");
  time_.run(20ms);
  EXPECT_EQ(*write(ends.client, "dropped"), "sent");
  ends.client->reset();
  EXPECT_EQ(*read(ends.server), "arrived");
  time_.run(20ms);
  EXPECT_EQ(*read(ends.server), "read: Connection reset by peer");

  ends = open();
  EXPECT_EQ(*write(ends.server, "unread"), "sent");
  EXPECT_EQ(*write(ends.client, "last words"), "sent");
  ends.client->close();
  time_.run(20ms);
  EXPECT_EQ(*read(ends.server), "last words");
  EXPECT_EQ(*read(ends.server), "read: Connection reset by peer") << "what it sent was not read";

  ends = open();
  const Told near = read(ends.client);
  const Told far = read(ends.server);
  network_.reset_connections(at_);
  time_.run(20ms);
  EXPECT_EQ(*near, "read: Connection reset by peer");
  EXPECT_EQ(*far, "read: Connection reset by peer");
  EXPECT_EQ(*write(ends.client, "x"), "write: Broken pipe");
}

TEST_F(MemoryNetworkTest, LatencyAndBandwidthAreTimes) {
  listen();
  network_.set_link(at_, Direction::to_server, {.latency = 100ms, .bytes_per_s = 1000});
  network_.set_link(at_, Direction::to_client, {.latency = 300ms});
  const Told accepted = accept();
  const Told connected = connect(at_);
  time_.run(380ms);
  EXPECT_EQ(*connected, "") << "a round trip";
  time_.run(20ms);
  EXPECT_EQ(*connected, "connected");
  EXPECT_EQ(*accepted, "accepted");
  const Ends ends = ends_;

  EXPECT_EQ(*write(ends.client, std::string(500, 'a')), "sent");
  EXPECT_EQ(*write(ends.client, "b"), "sent");
  const Told first = read(ends.server);
  time_.run(580ms);
  EXPECT_EQ(*first, "") << "half a second for 500 bytes, and the latency";
  time_.run(20ms);
  EXPECT_EQ(first->size(), 500U);
  const Told second = read(ends.server);
  time_.run(20ms);
  EXPECT_EQ(*second, "b");

  // More than a few packets arrive while they are sent.
  EXPECT_EQ(*write(ends.client, std::string(10'000, 'l')), "sent");
  time_.run(4180ms);
  const Told beginning = read(ends.server);
  EXPECT_EQ(*beginning, "");
  time_.run(40ms);
  EXPECT_EQ(beginning->size(), 1000U) << "as much as is read at a time";
  time_.run(6s);
  std::size_t more = 0;
  while (const std::size_t size = read(ends.server)->size()) more += size;
  EXPECT_EQ(more, 9000U);

  EXPECT_EQ(*write(ends.server, std::string(900, 'c')), "sent");
  const Told answer = read(ends.client);
  time_.run(280ms);
  EXPECT_EQ(*answer, "");
  network_.set_link(at_, Direction::to_client, {});
  EXPECT_EQ(*write(ends.server, "d"), "sent");
  time_.run(20ms);
  EXPECT_EQ(answer->size(), 901U) << "faster bytes do not overtake slower ones";
}

TEST_F(MemoryNetworkTest, AWriterWaitsForRoom) {
  listen();
  const LinkConditions narrow{.buffer_bytes = 10};
  network_.set_link(at_, narrow);
  EXPECT_EQ(network_.link(at_, Direction::to_client), narrow);
  const Ends ends = open();
  const Told written = write(ends.client, "0123456789abcde");
  EXPECT_EQ(*written, "");
  EXPECT_EQ(*read(ends.server), "0123456789");
  EXPECT_EQ(*read(ends.server), "abcde");
  EXPECT_EQ(*written, "sent");
}

TEST_F(MemoryNetworkTest, ABlackHoleHoldsEverythingUntilItEnds) {
  listen();
  const Ends ends = open();
  EXPECT_EQ(*write(ends.client, "before"), "sent");
  network_.set_link(at_, Direction::to_server, {.is_silent = true});
  EXPECT_EQ(*write(ends.client, " during"), "sent");
  const Told heard = read(ends.server);
  const Told tried = connect(at_, 2s);
  const Told patient = connect(at_, 10s);
  time_.run(1980ms);
  EXPECT_EQ(*heard, "");
  EXPECT_EQ(*tried, "");
  time_.run(20ms);
  EXPECT_EQ(*tried, "connect to " + at_.text() + ": deadline passed");
  EXPECT_EQ(*write(ends.server, "answer"), "sent");
  EXPECT_EQ(*read(ends.client), "answer") << "the other direction passes";
  network_.set_link(at_, Direction::to_server, {});
  time_.settle();
  EXPECT_EQ(*heard, "before during");
  EXPECT_EQ(*patient, "connected");

  network_.set_link(at_, {.is_silent = true});
  ends.client->reset();
  const Told end = read(ends.server);
  time_.run(1min);
  EXPECT_EQ(*end, "") << "nobody tells it";
  ends.server->expires_at(time_.clock().mono() + 1s);
  time_.run(1s);
  EXPECT_EQ(*end, "read: deadline passed");
}

TEST_F(MemoryNetworkTest, NamesAddressesAndPorts) {
  struct Row {
    const char* what;
    std::string host;
    std::string told;
  };
  listen({"10.0.0.7", 443});
  network_.names().set("cloud", {"10.0.0.6", "10.0.0.7"});
  network_.names().set("gone", {});
  const Row rows[] = {
      {"its address", "10.0.0.7", "connected"},
      {"the second address of a name", "cloud", "connected"},
      {"an address without a listener", "10.0.0.6", "connect to 10.0.0.6:443: Connection refused"},
      {"a name without addresses", "gone", "resolve gone: Host not found (authoritative)"},
      {"an unknown name", "nowhere", "resolve nowhere: Host not found (authoritative)"},
      {"the name of the machine itself", "localhost",
       "connect to localhost:443 (127.0.0.1): Connection refused"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    EXPECT_EQ(*connect({row.host, 443}), row.told);
  }
  const auto opened = [&](const HostPort& at) {
    const auto made = Listener::open(time_.executor(), at, nullptr);
    return made ? "port " + std::to_string((*made)->port()) : made.error().what;
  };
  EXPECT_EQ(opened({"10.0.0.7", 443}), "listen on 10.0.0.7:443: Address already in use");
  EXPECT_EQ(opened({"cloud", 443}), "listen address cloud:443: not an IP address");
  EXPECT_NE(opened(anywhere), "port 0");
  listen({"0.0.0.0", 80});
  EXPECT_EQ(*connect({"10.1.2.3", 80}), "connected") << "a wildcard has every address";
  EXPECT_EQ(opened({"10.1.2.3", 80}), "listen on 10.1.2.3:80: Address already in use");
}

TEST_F(MemoryNetworkTest, RefusesWhatItIsToldToRefuse) {
  listen();
  network_.refuse(at_, true);
  EXPECT_EQ(*connect(at_), "connect to " + at_.text() + ": Connection refused");
  network_.refuse(at_, false);
  EXPECT_EQ(*connect(at_), "connected");
  listener_->close();
  time_.settle();
  EXPECT_EQ(*connect(at_), "connect to " + at_.text() + ": Connection refused");
  EXPECT_EQ(*read(ends_.client), "read: Connection reset by peer") << "it was never accepted";
}

TEST_F(MemoryNetworkTest, AReservedAddressIsNobodyElses) {
  auto address = std::make_optional(ReservedAddress::open(time_.executor(), anywhere).value());
  const HostPort at = address->at();
  EXPECT_EQ(*connect(at), "connect to " + at.text() + ": Connection refused");
  EXPECT_FALSE(Listener::open(time_.executor(), at, nullptr));
  EXPECT_FALSE(ReservedAddress::open(time_.executor(), at));
  for (int round = 0; round < 2; ++round) {
    const auto listener = address->listen(nullptr).value();
    EXPECT_FALSE(address->listen(nullptr)) << "one at a time";
    EXPECT_EQ(*connect(at), "connected");
  }
  address.reset();
  EXPECT_TRUE(Listener::open(time_.executor(), at, nullptr));
}

TEST_F(MemoryNetworkTest, ClosingAListenerEndsItsAccept) {
  listen();
  const Told accepted = accept();
  listener_->close();
  time_.settle();
  EXPECT_EQ(*accepted, "accept: Operation canceled");
}

TEST_F(MemoryNetworkTest, ACancelledTaskLeavesItsConnection) {
  listen();
  const Ends ends = open();
  loop::Tasks others(time_.executor());
  auto told = std::make_shared<std::string>();
  others.spawn("read", reading(ends.server, told));
  time_.settle();
  others.cancel();
  time_.settle();
  EXPECT_EQ(others.size(), 0U);
  EXPECT_EQ(*told, "");
  EXPECT_EQ(*write(ends.client, "a"), "sent");
  EXPECT_EQ(*read(ends.server), "a");
}

TEST_F(MemoryNetworkTest, CallersHaveOwnersOnLoopbackOnly) {
  network_.set_caller({.uid = 1234, .cgroup = 99, .holder = 5});
  listen();
  const Ends ends = open();
  ASSERT_TRUE(ends.server->peer().owner);
  EXPECT_EQ(ends.server->peer().owner->uid, 1234U);
  EXPECT_EQ(ends.server->peer().owner->cgroup, 99U);
  EXPECT_EQ(ends.server->peer().owner->holder, 5);
  EXPECT_NE(ends.server->peer().owner->inode, 0U);
  EXPECT_FALSE(ends.client->peer().owner) << "known only of those who connect";
  EXPECT_EQ(ends.client->peer().port, at_.port);
  EXPECT_EQ(ends.client->peer().local_port, ends.server->peer().port);
  ends.server->confirm_owner();
  EXPECT_TRUE(ends.server->peer().owner);
  ends.client->close();
  ends.server->confirm_owner();
  EXPECT_FALSE(ends.server->peer().owner) << "it has ended";
  listen({"10.0.0.7", 443});
  EXPECT_FALSE(open().server->peer().owner);
}

TEST(MemoryNetworkDeathTest, NonsenseStopsTheProcess) {
  const HostPort at{"10.0.0.7", 443};
  EXPECT_DEATH(MemoryNetwork().set_link(at, {.buffer_bytes = 0}), "buffer_bytes > 0");
  EXPECT_DEATH(MemoryNetwork().set_link(at, {.latency = -1s}), "latency >= ");
  EXPECT_DEATH(MemoryNetwork().set_link(at, {.bytes_per_s = -1}), "bytes_per_s >= 0");
}

}  // namespace
}  // namespace holdfast::net
