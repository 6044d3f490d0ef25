// A rejoin, one turn of the loop after the other.

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "test/unit/agent/edge/uplink/uplink_fixture.h"

namespace holdfast::agent::uplink {
namespace {

using sync::autonomy::LinkState;

asio::awaitable<void> send(http::Client& client, http::Request request, MonoTime deadline,
                           int& status) {
  const auto response = co_await client.send(request, deadline);
  status = response ? response->status : 0;
}

// Accepts a write after `moment` turns of the loop in a rejoin. Returns false if the rejoin had
// ended by then.
bool write_during_rejoin(int moment) {
  constexpr const char* pods = "/api/v1/namespaces/a/pods";
  // The lease is renewed most of the time (an answer takes 100 ms), so that a renewal is under way
  // when the rejoin ends. Without the delay before it, in which all turns are alike, a rejoin has
  // some 180 turns.
  UplinkFixture fixture({.set = [](EdgeOptions& options) {
    options.lease_renew_interval = 60ms;
    options.rejoin_jitter = 0ms;
  }});
  fixture.cloud.put(pods, "p", R"({"spec":{"nodeName":"edge1"},"status":{"phase":"Pending"}})");
  EXPECT_TRUE(fixture.until(LinkState::connected));
  EXPECT_EQ(fixture.ask("/api/v1/pods?fieldSelector=spec.nodeName%3Dedge1").status, 200);
  // The connection is open already: the write arrives in the turn after the one that sends it.
  http::Client client(http::Endpoint{{"127.0.0.1", fixture.edge->port()}});
  int status = -1;
  fixture.time.complete(send(client, {.target = std::string(pods) + "/p"},
                             fixture.time.clock().mono() + 1min, status));
  EXPECT_EQ(status, 200);
  fixture.cut_link();
  fixture.servers[0]->latency = 100ms;
  fixture.servers[0]->restore();
  EXPECT_TRUE(fixture.until(LinkState::rejoining));
  for (int turn = 0; turn < moment && fixture.state() == LinkState::rejoining; ++turn) {
    fixture.time.run_one();
  }
  if (fixture.state() != LinkState::rejoining) return false;
  http::Request patch{.method = http::Method::patch,
                      .target = std::string(pods) + "/p/status",
                      .body = R"({"metadata":{"uid":"uid-p"},"status":{"phase":"Running"}})"};
  patch.headers.add("User-Agent", "kubelet/v1");
  patch.headers.add("Content-Type", "application/strategic-merge-patch+json");
  status = -1;
  asio::co_spawn(fixture.time.executor(),
                 send(client, std::move(patch), fixture.time.clock().mono() + 1min, status),
                 asio::detached);
  EXPECT_TRUE(fixture.time.run_until(1min, [&status] { return status >= 0; }));
  EXPECT_EQ(status, 200) << moment;
  EXPECT_TRUE(fixture.until(LinkState::connected));
  fixture.time.run(1s);
  const std::string object = fixture.ask(std::string(pods) + "/p").body;
  EXPECT_NE(object.find(R"("phase":"Running")"), std::string::npos) << moment << ": " << object;
  EXPECT_EQ(fixture.metric("holdfast_edge_outbox_entries"), std::vector<std::string>{" 0"})
      << moment;
  return true;
}

TEST(RejoinMoments, AWriteIsSentWheneverItComes) {
  int moment = 0;
  while (write_during_rejoin(moment) && !testing::Test::HasFailure()) moment += 2;
  EXPECT_GT(moment, 100) << "the rejoin has several turns";
}

}  // namespace
}  // namespace holdfast::agent::uplink
