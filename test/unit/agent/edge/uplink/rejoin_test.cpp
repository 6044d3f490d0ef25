// A rejoin, one turn of the loop after the other.

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "test/unit/agent/edge/uplink/uplink_fixture.h"

namespace holdfast::agent::uplink::rejoining {
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

// What is listed in the turns of a rejoin, first to last.
const std::vector<std::vector<std::string>> by_turn = {
    {"/api/v1/nodes"},
    {"/api/v1/pods"},
    {"/api/v1/namespaces/a/secrets", "/api/v1/namespaces/a/configmaps"},
    {"/api/v1/services"},
    {"/apis/discovery.k8s.io/v1/namespaces/a/endpointslices",
     "/apis/discovery.k8s.io/v1/namespaces/b/endpointslices"},
};

constexpr const char* got_by_name = "/api/v1/namespaces/a/persistentvolumeclaims/data";

// A node that has cached a scope of each turn, and an object that it may get, but not list.
class RejoinTurns : public ::testing::Test {
 protected:
  RejoinTurns() {
    cloud().put("/api/v1/nodes", "edge1");
    EXPECT_TRUE(fixture_.until(LinkState::connected));
    for (const auto& turn : by_turn) {
      for (const std::string& scope : turn) EXPECT_EQ(fixture_.ask(scope).status, 200) << scope;
    }
    cloud().put("/api/v1/namespaces/a/persistentvolumeclaims", "data");
    EXPECT_EQ(fixture_.ask(got_by_name).status, 200);
    fixture_.time.run(1min);
    fixture_.cut_link();
    mark_ = cloud().asked.size();
    fixture_.servers[0]->latency = 1s;
  }

  FakeCloud& cloud() { return fixture_.cloud; }

  Duration rejoin() {
    fixture_.servers[0]->restore();
    EXPECT_TRUE(fixture_.until(LinkState::rejoining));
    return fixture_.until(LinkState::connected).value_or(Duration::max());
  }

  // When requests for scopes with that path arrived since the cut.
  std::vector<MonoTime> asked(const std::string& path, bool watch) {
    std::vector<MonoTime> times;
    for (std::size_t i = mark_; i < cloud().asked.size(); ++i) {
      const ReceivedRequest& request = cloud().asked[i];
      const bool is_watch = request.what.find("watch=true") != std::string::npos;
      const std::string asked = request.what.substr(0, request.what.find('?'));
      if (is_watch == watch && asked == "GET " + path) times.push_back(request.at);
    }
    return times;
  }

  UplinkFixture fixture_{{.set = [](EdgeOptions& options) { options.rejoin_jitter = 0ms; }}};
  std::size_t mark_ = 0;
};

TEST_F(RejoinTurns, AllWatchesThatContinueAreOpenedAtOnce) {
  const Duration took = rejoin();
  EXPECT_GE(took, 2s) << "the Node is read first";
  EXPECT_LE(took, 2500ms) << "one round trip for all watches, and what is got by name";
  std::vector<MonoTime> watches;
  for (const auto& turn : by_turn) {
    for (const std::string& scope : turn) {
      const std::vector<MonoTime> times = asked(scope, true);
      ASSERT_FALSE(times.empty()) << scope;
      watches.insert(watches.end(), times.begin(), times.end());
      EXPECT_TRUE(asked(scope, false).empty()) << scope;
    }
  }
  EXPECT_TRUE(std::is_sorted(watches.begin(), watches.end())) << "in the order of the turns";
  EXPECT_EQ(asked(got_by_name, false).size(), 1u);
}

TEST_F(RejoinTurns, ListsWaitForTheirTurn) {
  cloud().compact();
  EXPECT_LE(rejoin(), 10s);
  MonoTime answered = MonoTime::min();
  for (const auto& turn : by_turn) {
    MonoTime last{};
    for (const std::string& scope : turn) {
      const std::vector<MonoTime> times = asked(scope, false);
      ASSERT_FALSE(times.empty()) << scope;
      EXPECT_GE(times.front(), answered) << scope;
      last = std::max(last, times.back());
    }
    answered = last + 1s;
  }
}

// A watch that is answered with 410 and a list take two round trips.
TEST_F(RejoinTurns, OnASlowPathAListHasMoreTime) {
  fixture_.restore_link();
  for (const auto& server : fixture_.servers) server->latency = 3s;
  fixture_.time.run(3min);
  ASSERT_TRUE(fixture_.until(LinkState::connected));
  fixture_.cut_link();
  cloud().compact();
  ASSERT_LE(rejoin(), 2min);
  fixture_.time.run(1s);
  EXPECT_EQ(fixture_.admin("/v1/journal?limit=1000").find(R"("kind":"scope")"), std::string::npos)
      << "no scope was called unhealthy";
}

TEST_F(RejoinTurns, NobodyWaitsForAListThatWasRefusedBefore) {
  const std::string services = by_turn[3][0];
  int refusals = 0;
  fixture_.servers[0]->special =
      [&](const http::Request& request) -> std::optional<http::Response> {
    if (request.target.find(services) == std::string::npos) return std::nullopt;
    ++refusals;
    return http::Response{.status = 403, .body = "{}"};
  };
  (void)rejoin();
  EXPECT_EQ(refusals, 1) << "the watch";
  fixture_.cut_link();
  // It is asked for again, and not answered.
  fixture_.servers[0]->special =
      [&](const http::Request& request) -> std::optional<http::Response> {
    if (request.target.find(services) == std::string::npos) return std::nullopt;
    ++refusals;
    return http::Response{.status = 0};
  };
  EXPECT_LE(rejoin(), 2500ms);
  fixture_.time.run(1s);
  EXPECT_EQ(refusals, 2);
}

// The API server answers so many requests for the Node with `status` after an outage. Returns how
// long the first rejoin took, and expects that it ended in `state`.
Duration rejoin_of_overloaded(int status, const char* retry_after, int times, LinkState state) {
  UplinkFixture fixture({.set = [](EdgeOptions& options) { options.rejoin_jitter = 0ms; }});
  EXPECT_TRUE(fixture.until(LinkState::connected));
  fixture.cut_link();
  int left = times;
  fixture.servers[0]->special = [&](const http::Request& request) -> std::optional<http::Response> {
    if (request.path() != "/api/v1/nodes/edge1" || request.method != http::Method::get ||
        left-- <= 0) {
      return std::nullopt;
    }
    http::Response busy{.status = status, .body = "{}"};
    if (*retry_after != '\0') busy.headers.add("Retry-After", retry_after);
    return busy;
  };
  fixture.servers[0]->restore();
  EXPECT_TRUE(fixture.until(LinkState::rejoining));
  const MonoTime began = fixture.time.clock().mono();
  const std::size_t renewals = fixture.cloud.renewals.size();
  const auto ended = [&fixture] { return fixture.state() != LinkState::rejoining; };
  EXPECT_TRUE(fixture.time.run_until(5min, ended));
  EXPECT_EQ(fixture.state(), state) << fixture.reason();
  const Duration took = fixture.time.clock().mono() - began;
  const auto intervals = static_cast<std::size_t>(took / fixture.options.lease_renew_interval);
  EXPECT_GE(fixture.cloud.renewals.size() - renewals, intervals) << "the lease is renewed";
  return took;
}

TEST(Rejoin, AnOverloadedServerIsGivenTheTimeItAsksFor) {
  struct Row {
    int status;
    const char* retry_after;
    int times;
    Duration at_least;
    Duration at_most;
  };
  const Row rows[] = {
      {429, "1", 1, 1s, 3s}, {503, "1", 1, 1s, 3s},  {429, "15", 3, 45s, 50s},
      {429, "", 4, 0s, 20s}, {503, "0", 4, 0s, 20s},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(std::to_string(row.status) + ", Retry-After " + row.retry_after);
    const Duration took =
        rejoin_of_overloaded(row.status, row.retry_after, row.times, LinkState::connected);
    EXPECT_GE(took, row.at_least);
    EXPECT_LE(took, row.at_most);
  }
}

TEST(Rejoin, AServerThatStaysOverloadedEndsItAfterAMinute) {
  const Duration took = rejoin_of_overloaded(429, "7", 1000, LinkState::offline);
  EXPECT_GE(took, 40s);
  EXPECT_LE(took, 1min + 1s);
}

}  // namespace
}  // namespace holdfast::agent::uplink::rejoining
