// Several API servers: which of them gets the requests, and when the link is offline.

#include <gtest/gtest.h>

#include "test/support/certificates.h"
#include "test/unit/agent/edge/uplink/site.h"

namespace holdfast::agent::uplink {
namespace {

using sync::autonomy::LinkState;

constexpr const char* configmap = "/api/v1/namespaces/a/configmaps/one";

// How many of the requests from the `from`-th on arrived at each server.
std::vector<int> by_server(const Site& site, std::size_t from, std::string_view start = "") {
  std::vector<int> counts(site.servers.size());
  for (std::size_t i = from; i < site.cloud.asked.size(); ++i) {
    if (site.cloud.asked[i].what.starts_with(start)) ++counts[site.cloud.asked[i].server];
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
    Site site({.servers = 3, .set = [&c](EdgeOptions& options) { options.lb_mode = c.mode; }});
    site.cloud.put("/api/v1/namespaces/a/configmaps", "one");
    ASSERT_TRUE(site.until(LinkState::connected));
    const std::size_t from = site.cloud.asked.size();
    for (int i = 0; i < 12; ++i) EXPECT_EQ(site.ask(configmap, "kubectl").status, 200);
    EXPECT_EQ(by_server(site, from, "GET /api/v1/namespaces/a/configmaps"), c.counts);
  }
}

TEST(Servers, ABadOneIsOutAtOnceAndComesBackByItsProbes) {
  struct Case {
    const char* what;
    std::function<void(ApiServer&)> spoil;
    std::function<void(ApiServer&)> mend;
    const char* reason;
  };
  const auto pass = [](ApiServer& server) { server.cut("pass"); };
  const auto answer = [](http::Response response) {
    return [response](ApiServer& server) { server.instead = response; };
  };
  const auto normal = [](ApiServer& server) { server.instead.reset(); };
  const http::Response page{.headers = {{"Content-Type", "text/html"}}, .body = "<html>"};
  const Case cases[] = {
      {"refused", [](ApiServer& server) { server.cut("refuse"); }, pass, "refused"},
      {"black hole", [](ApiServer& server) { server.cut("black-hole"); }, pass, "deadline passed"},
      {"silent", answer({.status = 0}), normal, "deadline passed"},
      {"captive portal", answer(page), normal, "not an API server"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    Site site({.servers = 2});
    site.cloud.put("/api/v1/namespaces/a/configmaps", "one");
    ASSERT_TRUE(site.until(LinkState::connected));
    c.spoil(*site.servers[0]);
    for (int i = 0; i < 6; ++i) {
      EXPECT_EQ(site.ask(configmap, "kubectl").status, 200) << i << ": the other server answers";
    }
    EXPECT_EQ(site.edge->uplink().servers().at(0).health, sync::autonomy::ServerHealth::failed);
    EXPECT_NE(site.admin("/v1/link").find(c.reason), std::string::npos) << site.admin("/v1/link");
    const std::size_t from = site.cloud.asked.size();
    site.time.run(60s);
    EXPECT_EQ(site.state(), LinkState::connected);
    EXPECT_EQ(by_server(site, from, "PATCH")[0], 0) << "renewals go to the other server";
    const std::string here = "{server=\"127.0.0.1:" + std::to_string(site.servers[0]->port());
    const std::string there = "{server=\"127.0.0.1:" + std::to_string(site.servers[1]->port());
    const auto health = site.metric("node_yurthub_server_healthy_status");
    EXPECT_EQ(health.size(), 2u);
    EXPECT_TRUE(std::count(health.begin(), health.end(), here + "\"} 0"));
    EXPECT_TRUE(std::count(health.begin(), health.end(), there + "\"} 1"));

    c.mend(*site.servers[0]);
    const auto healthy = [&site] {
      return site.edge->uplink().servers().at(0).health == sync::autonomy::ServerHealth::healthy;
    };
    EXPECT_TRUE(site.time.run_until(32s, healthy));
    const std::size_t after = site.cloud.asked.size();
    for (int i = 0; i < 4; ++i) EXPECT_EQ(site.ask(configmap, "kubectl").status, 200);
    EXPECT_EQ(by_server(site, after, "GET /api/v1/namespaces/a"), (std::vector<int>{2, 2}));
  }
}

TEST(Servers, TheLinkIsOfflineOnlyWhenNoneAnswers) {
  Site site({.servers = 3});
  ASSERT_TRUE(site.until(LinkState::connected));
  site.servers[0]->cut("black-hole");
  site.servers[2]->cut("refuse");
  site.time.run(60s);
  EXPECT_EQ(site.state(), LinkState::connected);
  const int renewed = static_cast<int>(site.cloud.renewals.size());
  site.time.run(60s);
  EXPECT_GE(static_cast<int>(site.cloud.renewals.size()) - renewed, 6)
      << "the lease is still renewed";
  site.servers[1]->cut("black-hole");
  const auto lost = site.until(LinkState::offline, 30s);
  ASSERT_TRUE(lost);
  EXPECT_LE(*lost, 10s + 6s) << "one probe interval, and two deadlines for each server";
  EXPECT_FALSE(site.reason().empty());
  site.time.run(60s);
  site.servers[2]->cut("pass");
  const auto back = site.until(LinkState::connected, 60s);
  ASSERT_TRUE(back) << "one server is enough";
  EXPECT_EQ(site.edge->uplink().servers().at(2).health, sync::autonomy::ServerHealth::healthy);
}

TEST(Servers, AWatchStaysWithItsServerUntilThatIsOut) {
  Site site({.servers = 2});
  site.cloud.put("/api/v1/namespaces/a/configmaps", "one");
  ASSERT_TRUE(site.until(LinkState::connected));
  const std::string list = "/api/v1/namespaces/a/configmaps";
  EXPECT_EQ(site.ask(list + "?resourceVersion=0").status, 200);
  const auto watches = [&site] {
    return by_server(site, 0, "GET /api/v1/namespaces/a/configmaps?watch");
  };
  site.time.run(30s);
  ASSERT_EQ(watches()[0] + watches()[1], 1) << "one watch, on one server";
  const std::size_t home = watches()[0] == 1 ? 0 : 1;
  site.servers[1 - home]->cut("refuse");
  site.time.run(30s);
  EXPECT_EQ(watches()[0] + watches()[1], 1) << "a failure of another server does not affect it";
  site.servers[1 - home]->cut("pass");
  site.time.run(40s);

  // When its own server stops answering, the watch is opened at the other one; the link stays
  // connected.
  site.servers[home]->cut("black-hole");
  site.time.run(30s);
  EXPECT_EQ(watches()[1 - home], 1);
  EXPECT_EQ(site.state(), LinkState::connected);
  site.cloud.put("/api/v1/namespaces/a/configmaps", "two");
  site.time.run(1s);
  const http::Response now = site.ask(list + "?resourceVersion=0");
  EXPECT_NE(now.body.find("\"two\""), std::string::npos) << now.body;
}

TEST(Servers, ACertificateOfAnotherIsThatServersFault) {
  const test::Authority ours("ours");
  const auto tls = tls::Context::for_server(
      {.identity = ours.sign({.common_name = "server", .names = {"IP:127.0.0.2"}})});
  Site site({.tls = tls.value(), .cluster = ", insecure-skip-tls-verify: false"});
  site.time.run(10s);
  EXPECT_EQ(site.state(), LinkState::offline);
  EXPECT_NE(site.reason().find("certificate"), std::string::npos) << site.reason();
  EXPECT_EQ(site.cloud.asked.size(), 0u);
}

}  // namespace
}  // namespace holdfast::agent::uplink
