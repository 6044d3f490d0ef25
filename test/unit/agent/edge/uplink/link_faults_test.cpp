// Every fault of the connection to the cloud, through the whole agent: the resulting link state,
// how soon, the reported fault, and that clients never get an answer that is not the cloud's.

#include <gtest/gtest.h>

#include "platform/text.h"
#include "test/support/certificates.h"
#include "test/unit/agent/edge/uplink/uplink_fixture.h"

namespace holdfast::agent::uplink {
namespace {

using sync::autonomy::LinkState;

constexpr const char* list = "/api/v1/namespaces/a/configmaps?resourceVersion=0";
constexpr const char* newest = "/api/v1/namespaces/a/configmaps";
constexpr const char* one = "/api/v1/namespaces/a/configmaps/one";

const test::Authority& authority() {
  static const test::Authority made("cluster");
  return made;
}

std::string pem_in_yaml(const std::string& pem) { return base64_encode(pem); }

// Waits until the agent is connected and has cached a ConfigMap.
void prepare(UplinkFixture& fixture) {
  fixture.cloud.put("/api/v1/namespaces/a/configmaps", "one", R"({"data":{"a":"cached"}})");
  ASSERT_TRUE(fixture.until(LinkState::connected));
  ASSERT_EQ(fixture.ask(list).status, 200);
  ASSERT_EQ(fixture.ask("/version").status, 200);
  fixture.time.run(1s);
}

http::Response answer(int status, const char* type, const char* body) {
  return {.status = status, .headers = {{"Content-Type", type}}, .body = body};
}

std::string fault_in(UplinkFixture& fixture) {
  const std::string link = fixture.admin("/v1/link");
  return sync::wire::text_at(link, {"fault"}).value().value_or("none");
}

struct BrokenWay {
  const char* what;
  std::function<void(FakeApiServer&)> spoil;
  const char* word;
  const char* reason;  // a part of it
};

TEST(LinkFaults, BringTheLinkDownWithinTwoDeadlinesAndTheCacheAnswers) {
  const auto cut = [](const char* fault) {
    return [fault](FakeApiServer& server) { server.cut(fault); };
  };
  const auto instead = [](http::Response response) {
    return [response](FakeApiServer& server) { server.instead = response; };
  };
  http::Response redirect = answer(302, "text/plain", "");
  redirect.headers.add("Location", "http://login.example/");
  const BrokenWay cases[] = {
      {"refused", cut("refuse"), "refused", "refused"},
      {"black hole", cut("black_hole"), "timeout", "deadline passed"},
      {"accepts and says nothing", instead({.status = 0}), "timeout", "deadline passed"},
      {"portal's page", instead(answer(200, "text/html", "<html>PORTAL")), "not_api_server",
       "web page"},
      {"portal's page by another name", instead(answer(200, "text/plain", "<html>PORTAL")),
       "not_api_server", "web page"},
      {"portal's text", instead(answer(200, "text/plain", "PORTAL")), "not_api_server",
       "text/plain"},
      {"portal's redirect", instead(redirect), "not_api_server", "redirected"},
      {"network login", instead(answer(511, "application/json", "{\"a\":\"PORTAL\"}")),
       "not_api_server", "511"},
      {"load balancer's page", instead(answer(502, "text/html", "<html>PORTAL")), "not_api_server",
       "web page"},
      {"credentials not known", instead(answer(401, "application/json", "{}")), "credentials",
       "does not accept"},
  };
  for (const BrokenWay& c : cases) {
    SCOPED_TRACE(c.what);
    UplinkFixture fixture;
    prepare(fixture);
    c.spoil(*fixture.servers[0]);
    const MonoTime began = fixture.time.clock().mono();
    const http::Response first = fixture.ask(newest);
    EXPECT_LE(fixture.time.clock().mono() - began, 2100ms)
        << "no read waits longer than its deadline";
    EXPECT_EQ(first.status, 200);
    EXPECT_NE(first.body.find("cached"), std::string::npos) << first.body;
    ASSERT_TRUE(fixture.until(LinkState::offline, 1100ms))
        << "the second missed deadline is a probe's";
    EXPECT_EQ(fault_in(fixture), c.word);
    EXPECT_NE(fixture.reason().find(c.reason), std::string::npos) << fixture.reason();
    const auto failures = fixture.metric("holdfast_edge_uplink_failures_total");
    EXPECT_EQ(failures.size(), sync::autonomy::link_faults);
    const std::string mine = std::string("{reason=\"") + c.word + "\"} 2";
    EXPECT_TRUE(std::count(failures.begin(), failures.end(), mine)) << join(failures, "\n");

    fixture.time.run(2min);
    for (const char* target : {newest, one, list, "/version"}) {
      const http::Response told = fixture.ask(target);
      EXPECT_EQ(told.status, 200) << target;
      EXPECT_EQ(told.body.find("PORTAL"), std::string::npos) << target;
    }
    fixture.servers[0]->restore();
    fixture.servers[0]->instead.reset();
    EXPECT_TRUE(fixture.until(LinkState::connected));
    EXPECT_EQ(fault_in(fixture), "none");
    EXPECT_NE(fixture.ask(newest).body.find("cached"), std::string::npos);
  }
}

// kube-apiserver shows its log folder as a page, and pages of services. A server whose certificate
// is not verified, and which sends no Audit-Id, cannot be told from a portal then; but any local
// client may ask for such a page.
TEST(LinkFaults, AreNotWhatALocalClientAsksFor) {
  UplinkFixture fixture;
  prepare(fixture);
  fixture.servers[0]->special = [](const http::Request& request) -> std::optional<http::Response> {
    const bool page = request.path() == "/logs/" || request.path().ends_with("/proxy/");
    if (page) return answer(200, "text/html", "<pre><a href=\"a\">a</a></pre>");
    if (request.method != http::Method::head) return std::nullopt;
    return answer(200, "text/plain; charset=utf-8", "");
  };
  const MonoTime since = fixture.edge->uplink().link().since();
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(fixture.ask("/logs/", "curl").status, 503);
    EXPECT_EQ(fixture.ask("/api/v1/namespaces/a/services/web/proxy/", "curl").status, 503);
    http::Request head{.method = http::Method::head, .target = "/openapi/v2"};
    EXPECT_EQ(fixture.ask(std::move(head)).status, 200);
    EXPECT_EQ(fixture.state(), LinkState::connected) << fixture.reason();
  }
  fixture.time.run(1min);
  EXPECT_EQ(fixture.edge->uplink().link().since(), since) << fixture.reason();
}

TEST(LinkFaults, AnAgentThatNeverGotThroughSaysWhy) {
  const auto server = authority().sign({.common_name = "server", .names = {"IP:127.0.0.1"}});
  const auto other = authority().sign({.common_name = "server", .names = {"IP:127.0.0.9"}});
  const std::string ours = pem_in_yaml(authority().certificate_pem());
  const test::Authority stranger("stranger");
  const std::string theirs = pem_in_yaml(stranger.certificate_pem());
  struct Case {
    const char* what;
    tls::ServerSettings tls;
    const std::string& believed;
    const char* word;
    const char* reason;
  };
  const Case cases[] = {
      {"another name", {.identity = other}, ours, "tls", "TLS handshake"},
      {"another authority", {.identity = server}, theirs, "tls", "TLS handshake"},
      {"wants a certificate",
       {.identity = server,
        .client_ca_pem = authority().certificate_pem(),
        .client_required = true},
       ours,
       "tls",
       "certificate required"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    UplinkFixture fixture({.tls = tls::Context::for_server(c.tls).value(),
                           .cluster = "certificate-authority-data: " + c.believed});
    fixture.time.run(10s);
    EXPECT_EQ(fixture.state(), LinkState::offline);
    EXPECT_EQ(fault_in(fixture), c.word) << fixture.reason();
    EXPECT_NE(fixture.reason().find(c.reason), std::string::npos) << fixture.reason();
    EXPECT_EQ(fixture.cloud.asked.size(), 0u);
    EXPECT_EQ(fixture.ask(list).status, 503);
  }
}

TEST(LinkFaults, TextFromAVerifiedServerIsNoPortals) {
  const auto identity = authority().sign({.common_name = "server", .names = {"IP:127.0.0.1"}});
  struct Case {
    const char* what;
    std::string cluster;
    const char* audit_id;  // "": the answer has no Audit-ID
    LinkState state;
  };
  const std::string ca =
      ", certificate-authority-data: " + pem_in_yaml(authority().certificate_pem());
  const std::string insecure = ", insecure-skip-tls-verify: true";
  const Case cases[] = {
      {"verified", ca, "", LinkState::connected},
      {"not verified, with an Audit-Id", insecure, "a7", LinkState::connected},
      {"not verified", insecure, "", LinkState::offline},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    UplinkFixture fixture(
        {.tls = tls::Context::for_server({.identity = identity}).value(), .cluster = c.cluster});
    prepare(fixture);
    http::Response text = answer(200, "text/plain", "some text");
    if (*c.audit_id != 0) text.headers.add("Audit-Id", c.audit_id);
    fixture.servers[0]->instead = text;
    for (int i = 0; i < 5; ++i) {
      (void)fixture.ask("/apis/example.com/v1", "kubectl");
      fixture.time.run(2s);
    }
    EXPECT_EQ(fixture.state(), c.state) << fixture.reason();
    EXPECT_EQ(fault_in(fixture), c.state == LinkState::connected ? "none" : "not_api_server");
  }
}

TEST(LinkFaults, AStormIsNotAnOutageAndIsGivenTheTimeItAsksFor) {
  for (const int status : {429, 503}) {
    SCOPED_TRACE(status);
    UplinkFixture fixture;
    prepare(fixture);
    http::Response busy = answer(status, "application/json", "{}");
    busy.headers.add("Retry-After", "15");
    fixture.servers[0]->instead = busy;
    const std::size_t from = fixture.cloud.asked.size();
    fixture.cloud.put("/api/v1/namespaces/a/configmaps", "two");
    fixture.time.run(2min);
    EXPECT_EQ(fixture.state(), LinkState::connected);
    EXPECT_EQ(fault_in(fixture), "overloaded");
    EXPECT_EQ(fixture.metric("holdfast_edge_link_overloaded"), std::vector<std::string>{" 1"});
    EXPECT_NE(fixture.admin("/v1/link").find("overloaded_for_seconds"), std::string::npos);
    const int renewals = fixture.cloud.count("PUT", from) + fixture.cloud.count("PATCH", from);
    EXPECT_LE(renewals, 9) << "renewals every 15 s instead of every 10 s";
    EXPECT_GE(renewals, 7);
    const http::Response told = fixture.ask(newest);
    EXPECT_EQ(told.status, status) << "the client gets the cloud's answer";
    EXPECT_EQ(told.headers.get("Retry-After"), "15");
    EXPECT_EQ(fixture.ask(list).status, 200) << "the cache still answers";

    // Another failure on top; afterwards 429 answers alone do not restore the link.
    fixture.servers[0]->cut("black_hole");
    ASSERT_TRUE(fixture.until(LinkState::offline, 30s));
    fixture.servers[0]->restore();
    fixture.time.run(2s);  // blocked requests continue
    const std::size_t offline = fixture.cloud.asked.size();
    fixture.time.run(2min);
    EXPECT_EQ(fixture.state(), LinkState::offline);
    EXPECT_GE(fixture.cloud.asked.size(), offline + 4);
    for (std::size_t i = offline + 1; i < fixture.cloud.asked.size(); ++i) {
      EXPECT_GE(fixture.cloud.asked[i].at - fixture.cloud.asked[i - 1].at, 15s)
          << "the agent must respect Retry-After";
    }
    EXPECT_EQ(fixture.reason().find("answered " + std::to_string(status)), 0u) << fixture.reason();
    fixture.servers[0]->instead.reset();
    EXPECT_TRUE(fixture.until(LinkState::connected, 40s));
    EXPECT_EQ(fixture.metric("holdfast_edge_link_overloaded"), std::vector<std::string>{" 0"});
  }
}

TEST(LinkFaults, AfterSleepTheHalfOpenConnectionIsFoundOutAtOnce) {
  UplinkFixture fixture;
  prepare(fixture);
  const auto proxied = fixture.servers[0]->link->port();
  EXPECT_NE(proxied, 0);
  fixture.servers[0]->cut("black_hole");  // existing connections are dead
  fixture.time.clock().advance(1h);
  const MonoTime woke = fixture.time.clock().mono();
  ASSERT_TRUE(
      fixture.time.run_until(5s, [&fixture] { return fixture.state() != LinkState::connected; }));
  EXPECT_LE(fixture.time.clock().mono() - woke, 3100ms) << "one check and one deadline";
  EXPECT_EQ(fault_in(fixture), "timeout");
  fixture.servers[0]->cut("refuse");  // resets the connections
  fixture.servers[0]->restore();      // new connections work
  const auto back = fixture.until(LinkState::connected, 60s);
  ASSERT_TRUE(back);
  EXPECT_LE(*back, 10s);
  fixture.cloud.put("/api/v1/namespaces/a/configmaps", "two");
  fixture.time.run(10s);
  EXPECT_NE(fixture.ask(list).body.find("\"two\""), std::string::npos) << "watches continue";
}

// A busy path is told from a server that hangs: a few events are no answer (cf. LargeAnswer).
TEST(LinkFaults, EventsDoNotHideThatNothingIsAnswered) {
  UplinkFixture fixture;
  ASSERT_TRUE(fixture.until(LinkState::connected));
  ASSERT_EQ(fixture.ask("/api/v1/services?resourceVersion=0").status, 200);
  fixture.time.run(10s);
  fixture.servers[0]->instead = http::Response{.status = 0};
  for (int second = 0; second < 20; ++second) {
    fixture.cloud.put("/api/v1/services", "web",
                      R"({"spec":{"n":)" + std::to_string(second) + "}}");
    fixture.time.run(1s);
  }
  EXPECT_EQ(fixture.state(), LinkState::offline);
}

}  // namespace
}  // namespace holdfast::agent::uplink
