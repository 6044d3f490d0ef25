// An API server that is reached by its name: slow and dead name servers and dead addresses. And a
// network of the machine that comes back.

#include <gtest/gtest.h>

#include "test/unit/agent/edge/uplink/uplink_fixture.h"

namespace holdfast::agent::uplink {
namespace {

using namespace std::chrono_literals;
using sync::autonomy::LinkFault;
using sync::autonomy::LinkState;

const std::string name = "api.example.test";

class NamedServer : public testing::Test {
 protected:
  void set_addresses(std::vector<std::string> addresses) {
    fixture.time.network().names().set(name, std::move(addresses));
  }
  void set_name_server(const net::NameServer& server) {
    fixture.time.network().names().set_server(server);
  }

  UplinkFixture fixture{{.host = name}};
};

TEST_F(NamedServer, WithoutAnAddressIsAFaultOfDnsThatAnAnswerEnds) {
  set_name_server({.is_silent = true});
  fixture.time.run(1min);
  EXPECT_EQ(fixture.state(), LinkState::offline);
  EXPECT_EQ(fixture.edge->uplink().fault(), LinkFault::dns) << fixture.reason();
  EXPECT_NE(fixture.reason().find("resolve " + name + ": deadline passed"), std::string::npos)
      << fixture.reason();
  set_addresses({"127.0.0.1"});
  set_name_server({});
  EXPECT_TRUE(fixture.until(LinkState::connected, 35s));
}

TEST_F(NamedServer, OfASlowNameServerIsReached) {
  for (const Duration latency : {Duration(3s), Duration(8s), Duration(25s)}) {
    fixture.stop();
    set_addresses({"127.0.0.1"});
    set_name_server({.latency = latency});
    fixture.time.run(1h);
    fixture.start();
    const auto took = fixture.until(LinkState::connected);
    ASSERT_TRUE(took) << latency / 1s << " s: " << fixture.reason();
    // The probe that follows the answer connects; half a minute is its longest backoff.
    EXPECT_LE(*took, latency + 31s);
  }
}

TEST_F(NamedServer, StaysReachedWhenItsNameServerDies) {
  set_addresses({"127.0.0.1"});
  ASSERT_TRUE(fixture.until(LinkState::connected));
  set_name_server({.is_silent = true});
  fixture.time.run(1h);
  EXPECT_EQ(fixture.state(), LinkState::connected);
  fixture.cut_link();
  fixture.time.run(1h);
  fixture.servers[0]->restore();
  EXPECT_TRUE(fixture.until(LinkState::connected, 35s)) << fixture.reason();
}

// As on a site whose IPv6 leads nowhere.
TEST_F(NamedServer, IsReachedByTheAddressThatAnswers) {
  const net::HostPort dead{"fd00::7", fixture.servers[0]->port()};
  fixture.time.network().set_link(dead, {.is_silent = true});
  set_addresses({"fd00::7", "127.0.0.1"});
  ASSERT_TRUE(fixture.until(LinkState::connected, 35s)) << fixture.reason();
  const MonoTime connected = fixture.edge->uplink().link().since();
  fixture.time.run(1h);
  EXPECT_EQ(fixture.edge->uplink().link().since(), connected) << "it stays connected";
}

TEST(MachinesNetwork, ThatComesBackBringsTheNodeBack) {
  UplinkFixture fixture({.set = [](EdgeOptions& options) { options.rejoin_jitter = 0ms; }});
  ASSERT_TRUE(fixture.until(LinkState::connected));
  for (int round = 0; round < 20; ++round) {
    fixture.cut_link();
    fixture.time.run(1h + round * 1700ms);
    fixture.servers[0]->restore();
    fixture.time.network().announce_change();
    EXPECT_TRUE(fixture.until(LinkState::connected, 3s)) << fixture.reason();
  }
}

}  // namespace
}  // namespace holdfast::agent::uplink
