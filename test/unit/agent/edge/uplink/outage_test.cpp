// How the agent reports an outage to people: in the log, the journal, refusals, and warnings on
// answers from the cache.

#include <gtest/gtest.h>

#include "agent/edge/admin/endpoints.h"
#include "agent/edge/answers/presentation.h"
#include "platform/log.h"
#include "platform/text.h"
#include "test/support/answered.h"
#include "test/support/captured_log.h"
#include "test/unit/agent/edge/uplink/uplink_fixture.h"

namespace holdfast::agent::uplink {
namespace {

using sync::autonomy::LinkState;

// The log lines on outages at levels warn and info, without their times.
class LogOfOutages {
 public:
  std::vector<std::string> lines() {
    const std::string text = log_.take();
    std::vector<std::string> found;
    for (const std::string_view line : split(text, '\n')) {
      const std::size_t space = line.find(' ');
      if (space == std::string_view::npos) continue;
      std::string_view said = line.substr(space + 1);
      // How many lines of other tests in this process were suppressed before it.
      said = said.substr(0, said.find(" repeated="));
      const bool about = said.find("the cloud") != std::string_view::npos ||
                         said.find("connected") != std::string_view::npos ||
                         said.find("link") != std::string_view::npos;
      if (about) found.emplace_back(said);
    }
    return found;
  }

 private:
  test::CapturedLog log_;
};

// The journal's records on outages.
std::vector<sync::json::value> outages(UplinkFixture& fixture) {
  const auto journal = sync::wire::parse_json(fixture.admin("/v1/journal?subject=cloud"));
  std::vector<sync::json::value> found;
  for (const sync::json::value& record : journal->as_array()) {
    EXPECT_EQ(record.at("kind"), "outage");
    found.push_back(record);
  }
  return found;
}

http::Request from_kubectl(http::Method method, const std::string& target, std::string body = "") {
  http::Request request{.method = method, .target = target, .body = std::move(body)};
  request.headers.add("User-Agent", "kubectl/v1.32.0 (linux/amd64) kubernetes/abcdef");
  request.headers.add("Accept", "application/json");
  if (!request.body.empty()) request.headers.add("Content-Type", "application/json");
  return request;
}

http::Request event(const std::string& name) {
  http::Request request{.method = http::Method::post, .target = "/api/v1/namespaces/a/events"};
  request.headers.add("User-Agent", "kubelet/v1.36.2");
  request.headers.add("Content-Type", "application/json");
  request.body = R"({"kind":"Event","apiVersion":"v1","metadata":{"name":")" + name + R"("}})";
  return request;
}

TEST(Outages, AreOneWarningAndOneLineAtTheReturn) {
  LogOfOutages log;
  UplinkFixture fixture;
  ASSERT_TRUE(fixture.until(LinkState::connected));
  fixture.time.run(10s);
  fixture.servers[0]->cut("refuse");
  fixture.time.run(10min);
  for (const char* name : {"e1", "e2", "e3"}) EXPECT_EQ(fixture.ask(event(name)).status, 201);
  fixture.servers[0]->special = [](const http::Request& asked) -> std::optional<http::Response> {
    if (asked.method != http::Method::post) return std::nullopt;
    const bool invalid = asked.body.find("e2") != std::string::npos;
    return http::Response{.status = invalid ? 422 : 201, .body = "{}"};
  };
  fixture.servers[0]->restore();
  ASSERT_TRUE(fixture.until(LinkState::connected));
  fixture.time.run(1s);
  const std::vector<sync::json::value> records = outages(fixture);
  ASSERT_EQ(records.size(), 2u);
  // Probes are jittered, so the times are taken from the journal.
  const sync::json::object& ended = records[1].at("detail").as_object();
  const std::string begin(ended.at("begin").as_string());
  const std::string at = begin.substr(11, 8) + "Z";
  const Duration lasted =
      std::chrono::seconds(static_cast<int>(ended.at("seconds").to_number<double>()));
  const std::string reason =
      "connect to 127.0.0.1:" + std::to_string(fixture.servers[0]->port()) + ": Connection refused";
  const std::string why = reason +
                          "; check the server's address and port in the kubeconfig, and that the "
                          "API server runs";
  const std::string replayed =
      "2 writes replayed, 1 refused: POST /api/v1/namespaces/a/events: answered 422";
  const std::vector<std::string> expected = {
      "info connected",
      "warning the cloud has been unreachable since " + at + ": " + why,
      "warning the cloud has been unreachable for 1m0s (since " + at + "): " + why,
      "warning the cloud has been unreachable for 3m0s (since " + at + "): " + why,
      "warning the cloud has been unreachable for 7m0s (since " + at + "): " + why,
      "info connected after " + format_duration(lasted) + " (lost at " + at + "; " + replayed + ")",
  };
  EXPECT_EQ(log.lines(), expected);
  const sync::json::object began = {{"begin", begin}, {"fault", "refused"}, {"reason", reason}};
  EXPECT_EQ(records[0].at("detail"), sync::json::value(began));
  EXPECT_EQ(std::string(records[0].at("what").as_string()), "began: refused: " + reason);
  EXPECT_EQ(std::string(records[1].at("what").as_string()),
            "ended after " + format_duration(lasted) + " (refused: " + reason + "); " + replayed);
  EXPECT_EQ(std::string(ended.at("reason").as_string()), reason);
  EXPECT_EQ(ended.at("replayed"), 2);
  EXPECT_EQ(ended.at("refused"), 1);
  EXPECT_TRUE(ended.contains("end"));
}

TEST(Outages, ThatAreNotOverWhenTheAgentEndsAreTakenUp) {
  UplinkFixture fixture;
  ASSERT_TRUE(fixture.until(LinkState::connected));
  fixture.servers[0]->cut("refuse");
  ASSERT_TRUE(fixture.until(LinkState::offline));
  fixture.time.run(1h);
  fixture.stop();
  fixture.time.run(1h);
  fixture.start();
  fixture.time.run(1min);
  const http::Response refused =
      fixture.ask(from_kubectl(http::Method::get, "/api/v1/namespaces/a/secrets"));
  EXPECT_EQ(refused.status, 503);
  EXPECT_NE(refused.body.find("the cloud has been unreachable since 12:00Z (2 h 1 min): "
                              "connection refused; "),
            std::string::npos)
      << refused.body;
  EXPECT_EQ(outages(fixture).size(), 1u) << "the outage continues";
  fixture.servers[0]->restore();
  ASSERT_TRUE(fixture.until(LinkState::connected));
  fixture.time.run(1s);
  EXPECT_EQ(outages(fixture).size(), 2u);
}

TEST(Outages, RefusalsComeAtOnceWithoutRetryAfterAndSayWhy) {
  for (const char* fault : {"refuse", "black_hole"}) {
    SCOPED_TRACE(fault);
    UplinkFixture fixture;
    ASSERT_TRUE(fixture.until(LinkState::connected));
    fixture.servers[0]->cut(fault);
    ASSERT_TRUE(fixture.until(LinkState::offline));
    fixture.time.run(26min);
    const std::string pod = R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p"}})";
    const http::Request requests[] = {
        from_kubectl(http::Method::get, "/api/v1/namespaces/a/secrets"),
        from_kubectl(http::Method::get, "/api/v1/namespaces/a/pods/p/log"),
        from_kubectl(http::Method::get, "/apis/metrics.k8s.io/v1beta1/nodes"),
        from_kubectl(http::Method::get, "/version"),
        from_kubectl(http::Method::post, "/api/v1/namespaces/a/pods", pod),
        from_kubectl(http::Method::post, "/api/v1/namespaces/a/pods/p/exec?command=sh"),
        from_kubectl(http::Method::remove, "/api/v1/namespaces/a/pods/p"),
        from_kubectl(http::Method::post, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                     R"({"kind":"SelfSubjectAccessReview"})"),
    };
    for (const http::Request& request : requests) {
      SCOPED_TRACE(request.target);
      const MonoTime began = fixture.time.clock().mono();
      const http::Response refused = fixture.ask(request);
      EXPECT_LT(fixture.time.clock().mono() - began, 100ms);
      EXPECT_EQ(refused.status, 503);
      EXPECT_FALSE(refused.headers.has("retry-after"));
      EXPECT_EQ(refused.body.find("retryAfterSeconds"), std::string::npos);
      EXPECT_NE(refused.body.find("the cloud has been unreachable since 12:0"), std::string::npos)
          << refused.body;
      EXPECT_NE(refused.body.find(" (26 min): "), std::string::npos) << refused.body;
    }
  }
}

http::Request read_by(const std::string& agent, const std::string& accept) {
  http::Request request{.target = "/api/v1/namespaces/a/configmaps"};
  if (!agent.empty()) request.headers.add("User-Agent", agent);
  request.headers.add("Accept", accept);
  return request;
}

constexpr const char* as_table =
    "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;"
    "g=meta.k8s.io,application/json";

TEST(Outages, AnswersFromTheCacheCarryAWarningForPeople) {
  UplinkFixture fixture({.set = [](EdgeOptions& options) { options.cache_agents = {"*"}; }});
  fixture.cloud.put("/api/v1/namespaces/a/configmaps", "one", R"({"data":{"a":"cached"}})");
  ASSERT_TRUE(fixture.until(LinkState::connected));
  const http::Request by_kubectl = read_by("kubectl/v1.32.0", "application/json");
  EXPECT_EQ(fixture.ask(by_kubectl).headers.get("warning"), "");
  fixture.time.run(5s);
  fixture.servers[0]->cut("black_hole");
  ASSERT_TRUE(fixture.until(LinkState::offline));
  fixture.time.run(26min);
  struct Case {
    const char* agent;
    bool warned;
  };
  constexpr Case cases[] = {{"kubectl/v1.32.0 (linux/amd64) kubernetes/abc", true},
                            {"curl/7.88.1", true},
                            {"", true},
                            {"unheard-of", true},
                            {"kubelet/v1.36.2 (linux/amd64)", false},
                            {"kube-proxy/v1.36.2", false},
                            {"CoreDNS/1.12", false}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.agent);
    const http::Response told = fixture.ask(read_by(c.agent, "application/json"));
    EXPECT_EQ(told.status, 200);
    const std::string expected =
        c.warned ? "299 - \"the cloud has been unreachable since 12:00Z (26 min): no answer in "
                   "time; this is the last known state\""
                 : "";
    EXPECT_EQ(told.headers.get("warning"), expected);
  }
}

TEST(Outages, TablesKeepTheirColumnsAndWatchesAreTablesToo) {
  UplinkFixture fixture({.set = [](EdgeOptions& options) { options.cache_agents = {"*"}; }});
  fixture.cloud.put("/api/v1/namespaces/a/configmaps", "one", R"({"data":{"a":"cached"}})");
  ASSERT_TRUE(fixture.until(LinkState::connected));
  ASSERT_EQ(fixture.ask(read_by("kubectl/v1", as_table)).status, 200);
  fixture.time.run(5s);
  fixture.servers[0]->cut("refuse");
  ASSERT_TRUE(fixture.until(LinkState::offline));
  for (const char* accept : {as_table, "application/json;as=Table;v=v1;g=meta.k8s.io"}) {
    const http::Response told = fixture.ask(read_by("kubectl/v1", accept));
    ASSERT_EQ(told.status, 200) << told.body;
    const sync::json::value table = sync::wire::parse_json(told.body).value();
    EXPECT_EQ(table.at("kind"), "Table");
    EXPECT_EQ(table.at("columnDefinitions").at(1).at("name"), "Data");
    EXPECT_EQ(table.at("rows").at(0).at("cells").at(0), "one");
    EXPECT_EQ(table.at("rows").at(0).at("cells").at(1), 1);
    EXPECT_EQ(table.at("rows").at(0).at("object").at("kind"), "PartialObjectMetadata");
  }
  http::Request watch = read_by("kubectl/v1", as_table);
  watch.target += "?watch=true&timeoutSeconds=1";
  const http::Response told = fixture.ask(watch);
  EXPECT_EQ(told.status, 200);
  EXPECT_NE(told.headers.get("warning"), "");
  EXPECT_NE(told.stream, nullptr);
}

TEST(HealthPages, AreReadyWhileConnectedOrWithACache) {
  UplinkFixture fixture;
  const auto page = [&fixture](const std::string& target) {
    http::Client client(http::Endpoint{read_endpoints(fixture.options.data_dir).value().admin});
    http::Response answer;
    const MonoTime deadline = fixture.time.clock().mono() + 10s;
    fixture.time.complete(test::answer_into(client, {.target = target}, deadline, answer));
    return std::to_string(answer.status) + " " + answer.body;
  };
  const auto expect_pages = [&page](const std::string& when, const std::string& ready) {
    for (const char* target : {"/healthz", "/livez", "/v1/healthz"}) {
      EXPECT_EQ(page(target), "200 ok") << target << " " << when;
    }
    for (const char* target : {"/readyz", "/v1/readyz"}) {
      EXPECT_EQ(page(target), ready) << target << " " << when;
    }
  };
  fixture.servers[0]->cut("refuse");
  fixture.time.run(30s);
  ASSERT_EQ(fixture.state(), LinkState::offline);
  EXPECT_NE(fixture.reason(), "");
  expect_pages("before anything was cached",
               "503 nothing is cached and the cloud is unreachable: " + fixture.reason());
  fixture.restore_link();
  expect_pages("connected", "200 ok");
  ASSERT_EQ(fixture.ask("/api/v1/services?resourceVersion=0").status, 200);
  fixture.time.run(1s);
  fixture.cut_link();
  expect_pages("offline with a list", "200 ok");
}

TEST(Warnings, AreQuotedStrings) {
  EXPECT_EQ(warning_header("a \"b\" \\ c\r\nd"), "299 - \"a \\\"b\\\" \\\\ cd\"");
}

}  // namespace
}  // namespace holdfast::agent::uplink
