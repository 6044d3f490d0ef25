// Several API servers: which of them gets the requests, and when the link is offline.

#include <gtest/gtest.h>

#include "test/support/certificates.h"
#include "test/unit/agent/edge/uplink/uplink_fixture.h"

namespace holdfast::agent::uplink {
namespace {

using sync::autonomy::LinkState;

constexpr const char* configmap = "/api/v1/namespaces/a/configmaps/one";

// How many of the requests from the `from`-th on arrived at each server.
std::vector<int> by_server(const UplinkFixture& fixture, std::size_t from,
                           std::string_view start = "") {
  std::vector<int> counts(fixture.servers.size());
  for (std::size_t i = from; i < fixture.cloud.asked.size(); ++i) {
    if (fixture.cloud.asked[i].what.starts_with(start)) ++counts[fixture.cloud.asked[i].server];
  }
  return counts;
}

TEST(Servers, AreAskedInTurnOrByPriority) {
  struct Case {
    const char* mode;
    std::vector<int> counts;
  };
  const Case cases[] = {{"rr", {4, 4, 4}}, {"priority", {12, 0, 0}}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.mode);
    UplinkFixture fixture(
        {.servers = 3, .set = [&c](EdgeOptions& options) { options.lb_mode = c.mode; }});
    fixture.cloud.put("/api/v1/namespaces/a/configmaps", "one");
    ASSERT_TRUE(fixture.until(LinkState::connected));
    const std::size_t from = fixture.cloud.asked.size();
    for (int i = 0; i < 12; ++i) EXPECT_EQ(fixture.ask(configmap, "kubectl").status, 200);
    EXPECT_EQ(by_server(fixture, from, "GET /api/v1/namespaces/a/configmaps"), c.counts);
  }
}

TEST(Servers, ABadOneIsOutAtOnceAndComesBackByItsProbes) {
  struct Case {
    const char* what;
    std::function<void(FakeApiServer&)> spoil;
    std::function<void(FakeApiServer&)> mend;
    const char* reason;
  };
  const auto pass = [](FakeApiServer& server) { server.restore(); };
  const auto answer = [](http::Response response) {
    return [response](FakeApiServer& server) { server.instead = response; };
  };
  const auto normal = [](FakeApiServer& server) { server.instead.reset(); };
  const http::Response page{.headers = {{"Content-Type", "text/html"}}, .body = "<html>"};
  const Case cases[] = {
      {"refused", [](FakeApiServer& server) { server.cut("refuse"); }, pass, "refused"},
      {"black hole", [](FakeApiServer& server) { server.cut("black_hole"); }, pass,
       "deadline passed"},
      {"silent", answer({.status = 0}), normal, "deadline passed"},
      {"captive portal", answer(page), normal, "not an API server"},
      {"another cluster", answer({.status = 401, .body = "{}"}), normal, "does not accept"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    UplinkFixture fixture({.servers = 2});
    fixture.cloud.put("/api/v1/namespaces/a/configmaps", "one");
    ASSERT_TRUE(fixture.until(LinkState::connected));
    c.spoil(*fixture.servers[0]);
    for (int i = 0; i < 6; ++i) {
      EXPECT_EQ(fixture.ask(configmap, "kubectl").status, 200) << i << ": the other server answers";
    }
    EXPECT_EQ(fixture.edge->uplink().servers().at(0).health, sync::autonomy::ServerHealth::failed);
    EXPECT_NE(fixture.admin("/v1/link").find(c.reason), std::string::npos)
        << fixture.admin("/v1/link");
    const std::size_t from = fixture.cloud.asked.size();
    fixture.time.run(60s);
    EXPECT_EQ(fixture.state(), LinkState::connected);
    EXPECT_EQ(by_server(fixture, from, "PATCH")[0], 0) << "renewals go to the other server";
    const std::string here = "{server=\"127.0.0.1:" + std::to_string(fixture.servers[0]->port());
    const std::string there = "{server=\"127.0.0.1:" + std::to_string(fixture.servers[1]->port());
    const auto health = fixture.metric("node_yurthub_server_healthy_status");
    EXPECT_EQ(health.size(), 2u);
    EXPECT_TRUE(std::count(health.begin(), health.end(), here + "\"} 0"));
    EXPECT_TRUE(std::count(health.begin(), health.end(), there + "\"} 1"));

    c.mend(*fixture.servers[0]);
    const auto healthy = [&fixture] {
      return fixture.edge->uplink().servers().at(0).health == sync::autonomy::ServerHealth::healthy;
    };
    EXPECT_TRUE(fixture.time.run_until(32s, healthy));
    const std::size_t after = fixture.cloud.asked.size();
    for (int i = 0; i < 4; ++i) EXPECT_EQ(fixture.ask(configmap, "kubectl").status, 200);
    EXPECT_EQ(by_server(fixture, after, "GET /api/v1/namespaces/a"), (std::vector<int>{2, 2}));
  }
}

TEST(Servers, TheLinkIsOfflineOnlyWhenNoneAnswers) {
  UplinkFixture fixture({.servers = 3});
  ASSERT_TRUE(fixture.until(LinkState::connected));
  fixture.servers[0]->cut("black_hole");
  fixture.servers[2]->cut("refuse");
  fixture.time.run(60s);
  EXPECT_EQ(fixture.state(), LinkState::connected);
  const int renewed = static_cast<int>(fixture.cloud.renewals.size());
  fixture.time.run(60s);
  EXPECT_GE(static_cast<int>(fixture.cloud.renewals.size()) - renewed, 6)
      << "the lease is still renewed";
  fixture.servers[1]->cut("black_hole");
  const auto lost = fixture.until(LinkState::offline, 30s);
  ASSERT_TRUE(lost);
  EXPECT_LE(*lost, 10s + 6s) << "one probe interval, and two deadlines for each server";
  EXPECT_FALSE(fixture.reason().empty());
  fixture.time.run(60s);
  fixture.servers[2]->restore();
  const auto back = fixture.until(LinkState::connected, 60s);
  ASSERT_TRUE(back) << "one server is enough";
  EXPECT_EQ(fixture.edge->uplink().servers().at(2).health, sync::autonomy::ServerHealth::healthy);
}

TEST(Servers, AWatchStaysWithItsServerUntilThatIsOut) {
  UplinkFixture fixture({.servers = 2});
  fixture.cloud.put("/api/v1/namespaces/a/configmaps", "one");
  ASSERT_TRUE(fixture.until(LinkState::connected));
  const std::string list = "/api/v1/namespaces/a/configmaps";
  EXPECT_EQ(fixture.ask(list + "?resourceVersion=0").status, 200);
  const auto watches = [&fixture] {
    return by_server(fixture, 0, "GET /api/v1/namespaces/a/configmaps?watch");
  };
  fixture.time.run(30s);
  ASSERT_EQ(watches()[0] + watches()[1], 1) << "one watch, on one server";
  const std::size_t home = watches()[0] == 1 ? 0 : 1;
  fixture.servers[1 - home]->cut("refuse");
  fixture.time.run(30s);
  EXPECT_EQ(watches()[0] + watches()[1], 1) << "a failure of another server does not affect it";
  fixture.servers[1 - home]->restore();
  fixture.time.run(40s);

  // When its own server stops answering, the watch is opened at the other one; the link stays
  // connected.
  fixture.servers[home]->cut("black_hole");
  fixture.time.run(30s);
  EXPECT_EQ(watches()[1 - home], 1);
  EXPECT_EQ(fixture.state(), LinkState::connected);
  fixture.cloud.put("/api/v1/namespaces/a/configmaps", "two");
  fixture.time.run(1s);
  const http::Response now = fixture.ask(list + "?resourceVersion=0");
  EXPECT_NE(now.body.find("\"two\""), std::string::npos) << now.body;
}

TEST(Servers, ACertificateOfAnotherIsThatServersFault) {
  const test::Authority ours("ours");
  const auto tls = tls::Context::for_server(
      {.identity = ours.sign({.common_name = "server", .names = {"IP:127.0.0.2"}})});
  UplinkFixture fixture({.tls = tls.value(), .cluster = "insecure-skip-tls-verify: false"});
  fixture.time.run(10s);
  EXPECT_EQ(fixture.state(), LinkState::offline);
  EXPECT_NE(fixture.reason().find("certificate"), std::string::npos) << fixture.reason();
  EXPECT_EQ(fixture.cloud.asked.size(), 0u);
}

}  // namespace
}  // namespace holdfast::agent::uplink
