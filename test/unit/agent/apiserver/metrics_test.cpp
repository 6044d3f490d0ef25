// GET /metrics of the API server.

#include "platform/text.h"
#include "test/unit/agent/apiserver/api_server_fixture.h"

namespace holdfast::test {
namespace {

bool has_line(const std::string& body, std::string_view wanted) {
  for (const std::string_view line : split(body, '\n')) {
    if (line == wanted) return true;
  }
  return false;
}

TEST(ApiMetrics, CountRequestsAndObjects) {
  ApiServerFixture fixture(options_without_controllers());
  for (int time = 0; time < 3; ++time) fixture.get("/api/v1/namespaces/default");
  (void)fixture.ask({.target = "/api/v1/namespaces/no"});
  (void)fixture.ask({.target = "/api/v1/madeup/x"});
  const TestResponse metrics = fixture.ask({.target = "/metrics"});
  EXPECT_EQ(metrics.headers.get("Content-Type"),
            "text/plain; version=0.0.4; charset=utf-8; escaping=underscores");
  const auto request = [](std::string_view code, std::string_view rest) {
    return "apiserver_request_total{code=\"" + std::string(code) +
           "\",component=\"apiserver\",dry_run=\"\",group=\"\"," + std::string(rest);
  };
  EXPECT_TRUE(has_line(metrics.body, request("200",
                                             "resource=\"namespaces\",scope=\"resource\","
                                             "subresource=\"\",verb=\"GET\",version=\"v1\"} 3")))
      << metrics.body;
  EXPECT_TRUE(has_line(metrics.body, request("404",
                                             "resource=\"namespaces\",scope=\"resource\","
                                             "subresource=\"\",verb=\"GET\",version=\"v1\"} 1")));
  // A resource that does not exist is not a label.
  EXPECT_EQ(metrics.body.find("madeup"), std::string::npos);
  EXPECT_TRUE(has_line(metrics.body, "apiserver_storage_objects{resource=\"namespaces\"} 4"));
  EXPECT_TRUE(
      has_line(metrics.body, "apiserver_current_inflight_requests{request_kind=\"readOnly\"} 1"));
  for (const char* name : {"apiserver_request_duration_seconds_bucket", "process_open_fds",
                           "process_resident_memory_bytes", "process_cpu_seconds_total"}) {
    EXPECT_NE(metrics.body.find(name), std::string::npos) << name;
  }
}

TEST(ApiMetrics, CountOpenWatchesAndMeasureNoneOfThem) {
  ApiServerFixture fixture(options_without_controllers());
  const TestResponse watch = fixture.ask({.target = "/api/v1/namespaces?watch=true"});
  (void)fixture.ask({.target = "/api/v1/namespaces"});
  const std::string open = fixture.ask({.target = "/metrics"}).body;
  EXPECT_TRUE(has_line(open, "apiserver_longrunning_requests{verb=\"WATCH\"} 1")) << open;
  const auto counts = [&open](std::string_view metric, std::string_view verb) {
    for (const std::string_view line : split(open, '\n')) {
      const bool of_verb = line.find("verb=\"" + std::string(verb) + "\"") != line.npos;
      if (line.starts_with(metric) && of_verb) return true;
    }
    return false;
  };
  EXPECT_TRUE(counts("apiserver_request_total{", "WATCH"));
  EXPECT_TRUE(counts("apiserver_request_total{", "LIST"));
  EXPECT_FALSE(counts("apiserver_request_duration_seconds", "WATCH"));
  EXPECT_TRUE(counts("apiserver_request_duration_seconds", "LIST"));
  watch.stream->cancel();
  fixture.advance(std::chrono::seconds(1));
  const std::string closed = fixture.ask({.target = "/metrics"}).body;
  EXPECT_TRUE(has_line(closed, "apiserver_longrunning_requests{verb=\"WATCH\"} 0")) << closed;
}

TEST(ApiMetrics, AreForAdministratorsIfThereAreTokens) {
  agent::lab::ApiServerOptions options = options_without_controllers();
  options.tokens = "admin,admin,1,system:masters\nnode,system:node:n,2,system:nodes\nuser,user,3\n";
  ApiServerFixture fixture(options);
  EXPECT_EQ(fixture.ask({.target = "/metrics", .token = "admin"}).status, 200);
  EXPECT_EQ(fixture.ask({.target = "/metrics", .token = "node"}).status, 403);
  EXPECT_EQ(fixture.ask({.target = "/metrics", .token = "user"}).status, 403);
  EXPECT_EQ(fixture.ask({.target = "/metrics"}).status, 403);
}

// The callers of a server without tokens, which knows them by their certificates or not at all.
TEST(ApiMetrics, AreForAdministratorsOnOtherAddressesThanLoopback) {
  const struct {
    net::Peer caller;
    int on_loopback;
    int elsewhere;
  } rows[] = {{{}, 200, 401},
              {{.common_name = "ann", .organizations = {"devs"}}, 200, 403},
              {{.common_name = "system:node:a", .organizations = {"system:nodes"}}, 200, 403},
              {{.common_name = "root", .organizations = {"system:masters"}}, 200, 200}};
  agent::lab::ApiServerOptions options = options_without_controllers();
  ApiServerFixture loopback(options);
  options.requires_identity = options.refuses_anonymous = true;
  ApiServerFixture elsewhere(options);
  for (const auto& row : rows) {
    EXPECT_EQ(loopback.ask({.target = "/metrics", .peer = row.caller}).status, row.on_loopback)
        << row.caller.common_name;
    EXPECT_EQ(elsewhere.ask({.target = "/metrics", .peer = row.caller}).status, row.elsewhere)
        << row.caller.common_name;
  }
}

}  // namespace
}  // namespace holdfast::test
