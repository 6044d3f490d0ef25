// A rejoin, one turn of the loop after the other.

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "test/unit/agent/edge/uplink/site.h"

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
  // The lease is renewed all the time, so that a renewal is under way when the rejoin ends.
  Site site({.set = [](EdgeOptions& options) { options.lease_renew_interval = 20ms; }});
  site.cloud.put(pods, "p", R"({"spec":{"nodeName":"edge1"},"status":{"phase":"Pending"}})");
  EXPECT_TRUE(site.until(LinkState::connected));
  EXPECT_EQ(site.ask("/api/v1/pods?fieldSelector=spec.nodeName%3Dedge1").status, 200);
  // The connection is open already: the write arrives in the turn after the one that sends it.
  http::Client client(http::Endpoint{{"127.0.0.1", site.edge->port()}});
  int status = -1;
  site.time.complete(
      send(client, {.target = std::string(pods) + "/p"}, site.time.clock().mono() + 1min, status));
  EXPECT_EQ(status, 200);
  site.cut_link();
  site.servers[0]->latency = 100ms;
  site.servers[0]->cut("pass");
  EXPECT_TRUE(site.until(LinkState::rejoining));
  for (int turn = 0; turn < moment && site.state() == LinkState::rejoining; ++turn) {
    site.time.run_one();
  }
  if (site.state() != LinkState::rejoining) return false;
  http::Request patch{.method = http::Method::patch,
                      .target = std::string(pods) + "/p/status",
                      .body = R"({"metadata":{"uid":"uid-p"},"status":{"phase":"Running"}})"};
  patch.headers.add("User-Agent", "kubelet/v1");
  patch.headers.add("Content-Type", "application/strategic-merge-patch+json");
  status = -1;
  asio::co_spawn(site.time.executor(),
                 send(client, std::move(patch), site.time.clock().mono() + 1min, status),
                 asio::detached);
  EXPECT_TRUE(site.time.run_until(1min, [&status] { return status >= 0; }));
  EXPECT_EQ(status, 200) << moment;
  EXPECT_TRUE(site.until(LinkState::connected));
  site.time.run(10s);
  const std::string object = site.ask(std::string(pods) + "/p").body;
  EXPECT_NE(object.find(R"("phase":"Running")"), std::string::npos) << moment << ": " << object;
  EXPECT_EQ(site.metric("holdfast_edge_outbox_entries"), std::vector<std::string>{" 0"}) << moment;
  return true;
}

TEST(RejoinMoments, AWriteIsSentWheneverItComes) {
  int moment = 0;
  while (write_during_rejoin(moment) && !testing::Test::HasFailure()) moment += 3;
  EXPECT_GT(moment, 10) << "the rejoin has several turns";
}

}  // namespace
}  // namespace holdfast::agent::uplink
