// An agent that starts, with a full cache, far from its API server: it connects after as many round
// trips as it has requests to send one after the other, each of them once.

#include <gtest/gtest.h>

#include <algorithm>

#include "test/support/certificates.h"
#include "test/unit/agent/edge/uplink/uplink_fixture.h"

namespace holdfast::agent::uplink::far_start {
namespace {

using sync::autonomy::LinkState;

const std::string pods = "/api/v1/pods?fieldSelector=spec.nodeName%3Dedge1";
const std::string node = "/api/v1/nodes?fieldSelector=metadata.name%3Dedge1";
const std::string lease = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/edge1";

std::shared_ptr<const tls::Context> server_tls() {
  const test::Authority authority("cluster");
  return tls::Context::for_server(
             {.identity = authority.sign({.common_name = "s", .names = {"IP:127.0.0.1"}})})
      .value();
}

class FarStart : public ::testing::Test {
 protected:
  FarStart() : fixture_({.tls = server_tls(), .cluster = "insecure-skip-tls-verify: true"}) {
    fixture_.cloud.put("/api/v1/nodes", "edge1");
    EXPECT_TRUE(fixture_.until(LinkState::connected));
    for (const std::string& scope : {pods, node}) EXPECT_EQ(fixture_.ask(scope).status, 200);
    fixture_.time.run(30s);
    fixture_.stop();
    mark_ = fixture_.cloud.asked.size();
  }

  void set_round_trip(Duration round_trip) {
    fixture_.time.network().set_link({"127.0.0.1", fixture_.servers[0]->port()},
                                     {.latency = round_trip / 2});
  }

  // What arrived since the agent was stopped, without later renewals of the lease, which are due
  // every ten seconds: the methods and paths, in order.
  std::vector<std::string> arrived() {
    std::vector<std::string> all;
    for (std::size_t i = mark_; i < fixture_.cloud.asked.size(); ++i) {
      const std::string& what = fixture_.cloud.asked[i].what;
      if (what != "PATCH " + lease) all.push_back(what.substr(0, what.find('?')));
    }
    return all;
  }
  Duration arrival(std::size_t number, MonoTime since) {
    return fixture_.cloud.asked.at(mark_ + number).at - since;
  }

  UplinkFixture fixture_;
  std::size_t mark_ = 0;
};

const std::vector<std::string> in_turn = {"GET " + lease, "PUT " + lease,
                                          "GET /api/v1/nodes/edge1"};
const std::vector<std::string> watches = {"GET /api/v1/namespaces/kube-system/configmaps",
                                          "GET /api/v1/nodes", "GET /api/v1/pods"};

class FarStartAt : public FarStart, public ::testing::WithParamInterface<Duration> {};

TEST_P(FarStartAt, EachRequestIsSentOnce) {
  const Duration round_trip = GetParam();
  set_round_trip(round_trip);
  const MonoTime began = fixture_.time.clock().mono();
  fixture_.start();
  // New connections for watches take two round trips more, and the rejoin begins at most as long
  // after the first answer as that took.
  EXPECT_TRUE(fixture_.until(LinkState::connected, 11 * round_trip + 100ms)) << fixture_.reason();
  std::vector<std::string> rest = arrived();
  ASSERT_EQ(rest.size(), in_turn.size() + watches.size()) << ::testing::PrintToString(rest);
  const auto first_watch = rest.begin() + static_cast<std::ptrdiff_t>(in_turn.size());
  EXPECT_EQ(std::vector(rest.begin(), first_watch), in_turn);
  rest.erase(rest.begin(), first_watch);
  std::sort(rest.begin(), rest.end());
  EXPECT_EQ(rest, watches);
  // TCP, TLS 1.3, and half a round trip.
  EXPECT_LE(arrival(0, began), round_trip * 5 / 2 + 40ms);
  EXPECT_LE(arrival(1, began), round_trip * 7 / 2 + 60ms) << "over the same connection";
}

INSTANTIATE_TEST_SUITE_P(RoundTrip, FarStartAt,
                         ::testing::Values(Duration(0), 400ms, 600ms, 1300ms, 3s),
                         [](const auto& row) { return std::to_string(row.param / 1ms) + "ms"; });

// One of several servers is not waited for as long, because it may be dead.
TEST(FarStartOfSeveral, TheAgentConnectsOnASatellitesPathAtOnceAndElsewhereSoon) {
  const struct {
    Duration round_trip;
    Duration connects_within;
    bool is_first_dead = false;
  } rows[] = {{Duration(0), 100ms},    {400ms, 5s},       {600ms, 7s}, {3s, 50s},
              {Duration(0), 4s, true}, {600ms, 12s, true}};
  for (const auto& row : rows) {
    SCOPED_TRACE(format_duration(row.round_trip));
    SCOPED_TRACE(row.is_first_dead);
    UplinkFixture fixture(
        {.servers = 2, .tls = server_tls(), .cluster = "insecure-skip-tls-verify: true"});
    fixture.stop();
    for (const auto& server : fixture.servers) {
      fixture.time.network().set_link({"127.0.0.1", server->port()},
                                      {.latency = row.round_trip / 2});
    }
    if (row.is_first_dead) fixture.servers[0]->cut("black_hole");
    fixture.start();
    EXPECT_TRUE(fixture.until(LinkState::connected, row.connects_within)) << fixture.reason();
  }
}

// A boot: the attempt began before the machine had its address.
TEST_F(FarStart, AChangeOfTheNetworkEndsAnAttemptFromBefore) {
  fixture_.servers[0]->instead = {.status = 0};  // for ever
  fixture_.start();
  fixture_.time.run(2s);
  fixture_.servers[0]->instead.reset();
  fixture_.time.run(1s);
  EXPECT_EQ(fixture_.state(), LinkState::offline) << "it hangs";
  fixture_.time.network().announce_change();
  EXPECT_TRUE(fixture_.until(LinkState::connected, 4s)) << fixture_.reason();
}

// A connection that was opened while the link came back for a moment hangs afterwards.
TEST_F(FarStart, AConnectionFromWithinAnOutageIsNotUsedAgain) {
  set_round_trip(400ms);
  fixture_.servers[0]->cut("black_hole");
  fixture_.start();
  for (int moment = 0; moment < 20; ++moment) {
    fixture_.time.run(7s);
    fixture_.servers[0]->restore();
    fixture_.time.run(1s);
    fixture_.servers[0]->cut("black_hole");
  }
  fixture_.servers[0]->restore();
  EXPECT_TRUE(fixture_.until(LinkState::connected, 45s)) << fixture_.reason();
}

}  // namespace
}  // namespace holdfast::agent::uplink::far_start
