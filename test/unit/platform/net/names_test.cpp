// How connections find the addresses of a name, and which of them they reach, in virtual time.

#include "platform/net/names.h"

#include "platform/net/dial.h"
#include "test/unit/platform/net/memory_network_fixture.h"

namespace holdfast::net {
namespace {

const HostPort cloud{"cloud", 443};
const HostPort old_at{"10.0.0.6", 443};
const HostPort new_at{"10.0.0.7", 443};
const HostPort v6_at{"fd00::7", 443};

class NamesTest : public MemoryNetworkTest {
 protected:
  NamesTest() {
    open_listener(old_at);
    open_listener(new_at);
    open_listener(v6_at);
    network_.names().set("cloud", {"10.0.0.6"});
  }

  void open_listener(const HostPort& at) {
    more_.push_back(Listener::open(time_.executor(), at, nullptr).value());
  }
  // Which server the connection reached, or the error.
  std::string reached(const Told& told) {
    if (*told != "connected") return *told;
    return ends_.client->peer().address;
  }
  // Connects and waits for that. Returns the milliseconds that it took, in steps of virtual time
  // (20 ms), and reached().
  std::string connect_now(Duration limit = 10s, const HostPort& to = cloud) {
    const MonoTime began = time_.clock().mono();
    const Told told = connect(to, limit);
    time_.run_until(1min, [&told] { return !told->empty(); });
    const auto took = (time_.clock().mono() - began) / 1ms;
    return std::to_string(took) + " ms: " + reached(told);
  }

  std::vector<std::unique_ptr<Listener>> more_;
};

TEST_F(NamesTest, AreLookedUpOnceForAllWhoWait) {
  network_.names().set_server({.latency = 100ms});
  const Told first = connect(cloud);
  const Told second = connect(cloud);
  time_.run(100ms);
  EXPECT_EQ(reached(first), "10.0.0.6");
  EXPECT_EQ(reached(second), "10.0.0.6");
  EXPECT_EQ(network_.names().lookups(), 1U);
  time_.run(4s);
  EXPECT_EQ(connect_now(), "0 ms: 10.0.0.6");
  EXPECT_EQ(network_.names().lookups(), 1U) << "the answer is fresh";
  time_.run(2s);
  EXPECT_EQ(connect_now(), "100 ms: 10.0.0.6");
  EXPECT_EQ(network_.names().lookups(), 2U);
}

TEST_F(NamesTest, OfASlowNameServerServeTheNextConnection) {
  network_.names().set_server({.latency = 3s});
  EXPECT_EQ(connect_now(2s), "2000 ms: resolve cloud: deadline passed");
  EXPECT_TRUE(names_of(time_.executor()).is_waiting_for("cloud"));
  EXPECT_EQ(connect_now(2s), "1000 ms: 10.0.0.6");
  EXPECT_FALSE(names_of(time_.executor()).is_waiting_for("cloud"));
  EXPECT_EQ(network_.names().lookups(), 1U);
}

TEST_F(NamesTest, StayKnownWhileNobodyCanTell) {
  EXPECT_EQ(connect_now(), "0 ms: 10.0.0.6");
  time_.run(24h);
  network_.names().set_server({.is_silent = true});
  EXPECT_EQ(connect_now(), "300 ms: 10.0.0.6");
  EXPECT_EQ(connect_now(), "0 ms: 10.0.0.6") << "the lookup still runs";
  network_.names().set_server({.is_broken = true});
  time_.settle();
  EXPECT_EQ(connect_now(), "0 ms: 10.0.0.6");
  EXPECT_EQ(connect_now(), "0 ms: 10.0.0.6") << "it is asked again";
  EXPECT_EQ(network_.names().lookups(), 4U);
}

TEST_F(NamesTest, ThatChangeAreBelieved) {
  EXPECT_EQ(connect_now(), "0 ms: 10.0.0.6");
  network_.names().set("cloud", {"10.0.0.7"});
  time_.run(5s);
  EXPECT_EQ(connect_now(), "0 ms: 10.0.0.7");
  // An answer that comes too late for one connection serves the next one.
  network_.names().set("cloud", {"10.0.0.6"});
  network_.names().set_server({.latency = 1s});
  network_.set_link(new_at, {.is_silent = true});
  time_.run(5s);
  EXPECT_EQ(connect_now(2s), "2000 ms: connect to cloud:443 (10.0.0.7): deadline passed");
  EXPECT_EQ(connect_now(2s), "0 ms: 10.0.0.6");
  network_.names().set_server({});
  network_.names().set("cloud", {});
  time_.run(5s);
  EXPECT_EQ(connect_now(), "0 ms: resolve cloud: Host not found (authoritative)");
  network_.names().set_server({.is_broken = true});
  EXPECT_EQ(connect_now(),
            "0 ms: resolve cloud: Host not found (non-authoritative), try again later");
}

TEST_F(NamesTest, OfManyServersAreNotLookedUpAllAtOnce) {
  network_.names().set_server({.is_silent = true});
  std::vector<Told> waiting;
  for (int number = 0; number < 17; ++number) {
    waiting.push_back(connect({"server" + std::to_string(number), 443}, 1h));
  }
  EXPECT_EQ(*waiting[15], "");
  EXPECT_EQ(*waiting[16], "resolve server16: too many lookups at the same time");
  network_.names().set_server({});
  time_.settle();
  EXPECT_EQ(*waiting[0], "resolve server0: Host not found (authoritative)");
  EXPECT_EQ(connect_now(), "0 ms: 10.0.0.6");
}

// Looks up the servers of these numbers, one after the other.
asio::awaitable<void> find_servers(Names& names, int first, int end) {
  for (int number = first; number < end; ++number) {
    std::string host = "server" + std::to_string(number);
    (void)co_await names.find(std::move(host), MonoTime::max());
    co_await loop::wait_for(100ms);
  }
}

TEST_F(NamesTest, ThatWereLookedUpLongAgoAreForgotten) {
  Names names({.fresh = 1h, .names = 3});
  for (int number = 0; number < 4; ++number) {
    network_.names().set("server" + std::to_string(number), {"10.0.0.6"});
  }
  time_.complete(find_servers(names, 0, 4));
  EXPECT_EQ(network_.names().lookups(), 4U);
  time_.complete(find_servers(names, 0, 1));
  EXPECT_EQ(network_.names().lookups(), 5U) << "the first one was forgotten";
  time_.complete(find_servers(names, 3, 4));
  EXPECT_EQ(network_.names().lookups(), 5U) << "the last one was not";
}

TEST_F(NamesTest, OfWhichOneAddressIsDeadCostAMomentOnly) {
  struct Row {
    const char* what;
    Addresses addresses;
    std::vector<HostPort> silent;
    std::vector<HostPort> refused;
    std::string expected;
  };
  const Row rows[] = {
      {"the first one answers", {"fd00::7", "10.0.0.6"}, {}, {}, "0 ms: fd00::7"},
      {"a broken IPv6", {"fd00::7", "10.0.0.6"}, {v6_at}, {}, "260 ms: 10.0.0.6"},
      {"a broken IPv4", {"10.0.0.6", "fd00::7"}, {old_at}, {}, "260 ms: fd00::7"},
      {"two silent ones",
       {"fd00::7", "10.0.0.6", "10.0.0.7"},
       {v6_at, old_at},
       {},
       "520 ms: 10.0.0.7"},
      {"a refused one costs nothing", {"10.0.0.6", "10.0.0.7"}, {}, {old_at}, "0 ms: 10.0.0.7"},
      {"refused and silent ones",
       {"10.0.0.6", "fd00::7", "10.0.0.7"},
       {v6_at},
       {old_at},
       "260 ms: 10.0.0.7"},
      {"all are refused",
       {"fd00::7", "10.0.0.6"},
       {},
       {old_at, v6_at},
       "0 ms: connect to cloud:443 (10.0.0.6): Connection refused"},
      {"all are silent",
       {"fd00::7", "10.0.0.6", "10.0.0.7"},
       {old_at, new_at, v6_at},
       {},
       "2000 ms: connect to cloud:443 (10.0.0.7): deadline passed"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    for (const HostPort& each : row.silent) network_.set_link(each, {.is_silent = true});
    for (const HostPort& each : row.refused) network_.refuse(each, true);
    network_.names().set("cloud", row.addresses);
    time_.run(5s);
    EXPECT_EQ(connect_now(2s), row.expected);
    for (const HostPort& each : {old_at, new_at, v6_at}) {
      const std::size_t connections = network_.connections(each);
      network_.set_link(each, {});
      network_.refuse(each, false);
      time_.run(1s);
      EXPECT_EQ(network_.connections(each), connections) << each.text() << " was given up";
    }
  }
}

// A name server, or who answers in its place, does not make the node try every address there is.
TEST_F(NamesTest, AreNotTriedWithoutEnd) {
  Addresses many;
  for (int number = 0; number < 1000; ++number) {
    many.push_back("10.1." + std::to_string(number / 250) + "." + std::to_string(number % 250));
  }
  many[31] = "10.0.0.7";
  many[32] = "10.0.0.6";
  network_.names().set("cloud", many);
  EXPECT_EQ(connect_now(), "0 ms: 10.0.0.7");
  many[31] = "10.1.9.9";
  network_.names().set("cloud", many);
  time_.run(5s);
  EXPECT_EQ(connect_now(), "0 ms: connect to cloud:443 (10.1.9.9): Connection refused");
}

// On a long way both are tried, and the first to answer wins.
TEST_F(NamesTest, TheQuickestAddressWins) {
  network_.names().set("cloud", {"fd00::7", "10.0.0.6"});
  network_.set_link(v6_at, {.latency = 300ms});
  network_.set_link(old_at, {.latency = 100ms});
  EXPECT_EQ(connect_now(), "460 ms: 10.0.0.6");
  network_.set_link(old_at, {.latency = 200ms});
  EXPECT_EQ(connect_now(), "600 ms: fd00::7");
}

TEST(InterleavedAddresses, AlternateBetweenFamilies) {
  struct Row {
    Addresses before;
    Addresses after;
  };
  const Row rows[] = {
      {{}, {}},
      {{"1.1.1.1"}, {"1.1.1.1"}},
      {{"::1", "::2", "1.1.1.1"}, {"::1", "1.1.1.1", "::2"}},
      {{"1.1.1.1", "1.1.1.2", "1.1.1.3", "::1"}, {"1.1.1.1", "::1", "1.1.1.2", "1.1.1.3"}},
      {{"::1", "1.1.1.1", "1.1.1.2", "1.1.1.3"}, {"::1", "1.1.1.1", "1.1.1.2", "1.1.1.3"}},
  };
  for (const Row& row : rows) EXPECT_EQ(interleaved(row.before), row.after);
}

}  // namespace
}  // namespace holdfast::net
