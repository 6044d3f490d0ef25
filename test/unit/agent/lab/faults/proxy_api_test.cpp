// toxiproxy's HTTP API: every route, its errors and its limits.

#include "agent/lab/faults/proxy_api.h"

#include <unistd.h>

#include <optional>

#include "test/unit/agent/lab/faults/api_fixture.h"

namespace holdfast::agent::faults {
namespace {

using enum http::Method;

constexpr const char* redis = R"({"name":"redis","listen":"127.0.0.1:0","upstream":"a:6379"})";
constexpr const char* redis_shown =
    R"({"name":"redis","listen":"127.0.0.1:PORT","upstream":"a:6379","enabled":true,"toxics":[]})";
constexpr const char* hole_shown =
    R"({"attributes":{},"name":"black_hole","type":"black_hole","stream":"both","toxicity":1})";

std::string error(int status, const std::string& what) {
  return std::to_string(status) + R"( {"error":")" + what + R"(","status":)" +
         std::to_string(status) + "}";
}

TEST(ProxyApi, ServesProxies) {
  ApiFixture fixture;
  EXPECT_EQ(fixture.asked(get, "/proxies"), "200 {}");
  EXPECT_EQ(fixture.asked(post, "/proxies", redis), std::string("201 ") + redis_shown);
  EXPECT_EQ(fixture.asked(get, "/proxies"), std::string(R"(200 {"redis":)") + redis_shown + "}");
  EXPECT_EQ(fixture.asked(get, "/proxies/redis"), std::string("200 ") + redis_shown);
  EXPECT_EQ(fixture.asked(get, "/proxies/red%69s"), std::string("200 ") + redis_shown);
  EXPECT_EQ(fixture.asked(post, "/proxies", redis), error(409, "proxy already exists"));
  const auto response = fixture.ask(get, "/proxies");
  EXPECT_EQ(response.headers.get("content-type"), "application/json");
  for (const http::Method change : {post, patch}) {
    EXPECT_EQ(fixture.asked(change, "/proxies/redis", R"({"upstream":"b:1","name":"other"})"),
              R"(200 {"name":"redis","listen":"127.0.0.1:PORT","upstream":"b:1","enabled":true,)"
              R"("toxics":[]})");
    EXPECT_EQ(fixture.asked(change, "/proxies/redis", R"({"enabled":false})"),
              R"(200 {"name":"redis","listen":"127.0.0.1:PORT","upstream":"b:1","enabled":false,)"
              R"("toxics":[]})");
    EXPECT_EQ(fixture.ask(change, "/proxies/redis", R"({"enabled":true})").status, 200);
  }
  EXPECT_EQ(fixture.asked(http::Method::remove, "/proxies/redis"), "204 ");
  EXPECT_EQ(fixture.asked(get, "/proxies/redis"), error(404, "proxy not found"));
}

TEST(ProxyApi, ServesToxics) {
  ApiFixture fixture;
  ASSERT_EQ(fixture.ask(post, "/proxies", redis).status, 201);
  const std::string toxics = "/proxies/redis/toxics";
  EXPECT_EQ(fixture.asked(get, toxics), "200 []");
  EXPECT_EQ(fixture.asked(post, toxics, R"({"type":"black_hole"})"),
            std::string("200 ") + hole_shown);
  const std::string latency =
      R"({"attributes":{"latency":9,"jitter":0},"name":"l","type":"latency",)"
      R"("stream":"upstream","toxicity":0.5})";
  EXPECT_EQ(fixture.asked(post, toxics,
                          R"({"type":"latency","name":"l","stream":"upstream","toxicity":0.5,)"
                          R"("attributes":{"latency":9}})"),
            "200 " + latency);
  EXPECT_EQ(fixture.asked(get, toxics), "200 [" + latency + "," + hole_shown + "]");
  EXPECT_EQ(fixture.asked(get, toxics + "/l"), "200 " + latency);
  EXPECT_EQ(
      fixture.asked(patch, toxics + "/l", R"({"attributes":{"jitter":3},"name":"x","type":"y"})"),
      R"(200 {"attributes":{"latency":9,"jitter":3},"name":"l","type":"latency",)"
      R"("stream":"upstream","toxicity":0.5})");
  EXPECT_EQ(fixture.ask(post, toxics + "/l", R"({"toxicity":1})").status, 200);
  EXPECT_EQ(fixture.asked(post, toxics, R"({"type":"latency","name":"l"})"),
            error(409, "toxic already exists"));
  EXPECT_EQ(fixture.asked(http::Method::remove, toxics + "/l"), "204 ");
  for (const http::Method method : {get, patch, post, http::Method::remove}) {
    EXPECT_EQ(fixture.asked(method, toxics + "/l", "{}"), error(404, "toxic not found"));
    EXPECT_EQ(fixture.asked(method, "/proxies/other/toxics/l"), error(404, "proxy not found"));
  }
}

TEST(ProxyApi, PopulatesAndResets) {
  ApiFixture fixture;
  const std::string two =
      R"([{"name":"a","listen":"127.0.0.1:0","upstream":"a:1"},{"name":"b","upstream":"b:1",)"
      R"("enabled":false}])";
  EXPECT_EQ(fixture.asked(post, "/populate", two),
            R"(201 {"proxies":[{"name":"a","listen":"127.0.0.1:PORT","upstream":"a:1",)"
            R"("enabled":true,"toxics":[]},{"name":"b","listen":"127.0.0.1:0","upstream":"b:1",)"
            R"("enabled":false,"toxics":[]}]})");
  FaultProxy& a = *fixture.proxies.find("a").value();
  const std::string same =
      R"([{"name":"a","listen":")" + a.listen().text() + R"(","upstream":"a:1"}])";
  ASSERT_TRUE(a.add(cut_cable()));
  EXPECT_EQ(fixture.ask(post, "/populate", same).status, 201);
  EXPECT_EQ(a.toxics().size(), 1U) << "an unchanged proxy stays as it is";
  EXPECT_EQ(fixture.ask(post, "/populate", R"([{"name":"a","upstream":"c:1"}])").status, 201);
  EXPECT_TRUE(a.toxics().empty());
  EXPECT_EQ(a.upstream().host, "c");

  ASSERT_TRUE(a.add(parse_toxic({"refuse"}).value()));
  EXPECT_EQ(fixture.asked(post, "/reset"), "204 ");
  EXPECT_TRUE(a.toxics().empty());
  EXPECT_TRUE(fixture.proxies.find("b").value()->is_enabled());
}

TEST(ProxyApi, PopulateSaysWhatItCouldNotDo) {
  ApiFixture fixture;
  EXPECT_EQ(
      fixture.asked(post, "/populate", R"([{"name":"a","upstream":"a:1"},{"name":"b"}])"),
      R"(400 {"error":"missing required field: upstream at proxy 2","status":400,"proxies":[]})");
  EXPECT_TRUE(fixture.proxies.names().empty()) << "all are checked before one is created";
  const auto taken =
      net::Listener::open(fixture.time.executor(), {"127.0.0.1", 0}, nullptr).value();
  const std::string port = std::to_string(taken->port());
  const auto response =
      fixture.ask(post, "/populate",
                  R"([{"name":"a","upstream":"a:1"},{"name":"b","upstream":"b:1",)"
                  R"("listen":"127.0.0.1:)" +
                      port + R"("}])");
  EXPECT_EQ(response.status, 500);
  EXPECT_EQ(response.body.find(R"({"error":"listen on 127.0.0.1:)" + port +
                               R"(: Address already in use","status":500,"proxies":[{"name":"a")"),
            0U)
      << response.body;
}

TEST(ProxyApi, MistakesAreAnsweredInItsShape) {
  ApiFixture fixture;
  ASSERT_EQ(fixture.ask(post, "/proxies", redis).status, 201);
  const struct {
    http::Method method;
    std::string target;
    std::string body;
    int status;
    std::string error;
  } rows[] = {
      {post, "/proxies", "", 400, "bad request body: "},
      {post, "/proxies", "[]", 400, "bad request body: a proxy is not an object"},
      {post, "/proxies", "{}", 400, "missing required field: name"},
      {post, "/proxies", R"({"name":""})", 400, "missing required field: name"},
      {post, "/proxies", R"({"name":null})", 400, "missing required field: name"},
      {post, "/proxies", R"({"name":5})", 400, "bad request body: name: not a string"},
      {post, "/proxies", R"({"name":"a/b","upstream":"a:1"})", 400,
       R"(bad request body: bad name of a proxy: \"a/b\")"},
      {post, "/proxies", R"({"name":"a"})", 400, "missing required field: upstream"},
      {post, "/proxies", R"({"name":"a","upstream":"a"})", 400,
       R"(bad request body: not HOST:PORT: \"a\")"},
      {post, "/proxies", R"({"name":"a","upstream":"a:0"})", 400, "a server has no port 0"},
      {post, "/proxies", R"({"name":"a","upstream":"a:1","listen":"host:1"})", 400,
       "listen address host:1: not an IP address"},
      {post, "/proxies", R"({"name":"a","upstream":"a:1","enabled":1})", 400,
       "bad request body: enabled: neither true nor false"},
      {patch, "/proxies/redis", R"({"listen":"127.0.0.1:99999"})", 400, "not HOST:PORT"},
      {patch, "/proxies/redis", "x", 400, "bad request body: "},
      {post, "/proxies/redis/toxics", "{}", 400, "invalid toxic type"},
      {post, "/proxies/redis/toxics", R"({"type":"latncy"})", 400,
       R"(invalid toxic type: \"latncy\" is none of latency, bandwidth, slow_close, timeout, )"},
      {post, "/proxies/redis/toxics", R"({"type":"latency","stream":"up"})", 400,
       "stream was invalid, can be either upstream or downstream"},
      {post, "/proxies/redis/toxics", R"({"type":"latency","toxicity":"1"})", 400,
       "bad request body: toxicity: not a number"},
      {post, "/proxies/redis/toxics", R"({"type":"latency","toxicity":2})", 400,
       "bad request body: toxicity must be from 0 to 1"},
      {post, "/proxies/redis/toxics", R"({"type":"latency","attributes":[]})", 400,
       "bad request body: attributes: not an object"},
      {post, "/proxies/redis/toxics", R"({"type":"latency","attributes":{"delay":1}})", 400,
       R"(bad request body: unknown attribute \"delay\": latency has only latency, jitter)"},
      {post, "/proxies/redis/toxics", R"({"type":"latency","attributes":{"latency":1.5}})", 400,
       "bad request body: attribute latency: not a whole number"},
      {post, "/proxies/redis/toxics",
       R"({"type":"latency","attributes":{"latency":18446744073709551615}})", 400,
       "bad request body: attribute latency: not a whole number"},
      {post, "/proxies/redis/toxics", R"({"type":"slicer"})", 400,
       "bad request body: attribute average_size of slicer: 0 is not from 1 to 1000000000"},
      {post, "/populate", "{}", 400, "bad request body: not an array of proxies"},
      {post, "/populate", R"([{"name":"a","upstream":"a:1"},{"name":"a","upstream":"a:1"}])", 400,
       R"(bad request body: the name \"a\" is used twice)"},
      {put, "/proxies", "", 405, "method not allowed"},
      {put, "/proxies/redis", "", 405, "method not allowed"},
      {patch, "/proxies/redis/toxics", "", 405, "method not allowed"},
      {get, "/populate", "", 405, "method not allowed"},
      {get, "/reset", "", 405, "method not allowed"},
      {post, "/version", "", 405, "method not allowed"},
      {post, "/metrics", "", 405, "method not allowed"},
      {get, "/", "", 404, "page not found"},
      {get, "/proxies/", "", 404, "proxy not found"},
      {get, "/proxies/redis/toxics/a/b", "", 404, "page not found"},
      {get, "/proxies/redis/poisons", "", 404, "page not found"},
      {get, "/proxies/%zz", "", 404, "page not found"},
  };
  for (const auto& row : rows) {
    const http::Response response = fixture.ask(row.method, row.target, row.body);
    EXPECT_EQ(response.status, row.status) << row.target << " " << row.body << response.body;
    EXPECT_NE(response.body.find(row.error), std::string::npos) << row.body << response.body;
    EXPECT_TRUE(response.body.starts_with(R"({"error":")")) << response.body;
    EXPECT_EQ(response.headers.get("content-type"), "application/json");
  }
  EXPECT_EQ(fixture.asked(get, "/proxies"), std::string(R"(200 {"redis":)") + redis_shown + "}");
}

TEST(ProxyApi, TheNumberOfProxiesIsLimited) {
  ApiFixture fixture;
  int status = 201;
  std::size_t made = 0;
  for (; status == 201 && made < 1000; ++made) {
    const std::string name = "p" + std::to_string(made);
    status =
        fixture
            .ask(post, "/proxies", R"({"upstream":"a:1","enabled":false,"name":")" + name + R"("})")
            .status;
  }
  EXPECT_EQ(status, 429);
  EXPECT_EQ(made, ProxySet::proxies_max + 1);
}

TEST(ProxyApi, EnablingAProxyWhosePortIsTakenSaysSo) {
  ApiFixture fixture;
  ASSERT_EQ(fixture.ask(post, "/proxies", redis).status, 201);
  const net::HostPort at = fixture.proxies.find("redis").value()->listen();
  ASSERT_EQ(fixture.ask(post, "/proxies/redis", R"({"enabled":false})").status, 200);
  const auto taken = net::Listener::open(fixture.time.executor(), at, nullptr).value();
  const auto enabled = fixture.ask(post, "/proxies/redis", R"({"enabled":true})");
  EXPECT_EQ(enabled.status, 500);
  EXPECT_NE(enabled.body.find("Address already in use"), std::string::npos) << enabled.body;
  EXPECT_NE(fixture.ask(get, "/proxies/redis").body.find(R"("enabled":false)"), std::string::npos);
}

TEST(ProxyApi, ARefusalIsRemovedAtTheSameAddress) {
  ApiFixture fixture;
  ASSERT_EQ(fixture.ask(post, "/proxies", redis).status, 201);
  const std::string toxics = "/proxies/redis/toxics";
  ASSERT_EQ(fixture.ask(post, toxics, R"({"type":"refuse"})").status, 200);
  const net::HostPort at = fixture.proxies.find("redis").value()->listen();
  EXPECT_FALSE(net::Listener::open(fixture.time.executor(), at, nullptr));
  EXPECT_EQ(fixture.ask(http::Method::remove, toxics + "/refuse").status, 204);
  EXPECT_EQ(fixture.proxies.find("redis").value()->listen(), at);
  EXPECT_TRUE(fixture.proxies.find("redis").value()->is_enabled());
}

TEST(ProxyApi, HasAVersionAndMetrics) {
  ApiFixture fixture;
  EXPECT_TRUE(fixture.asked(get, "/version").starts_with(R"(200 {"version":"2.)"));
  ASSERT_EQ(fixture.ask(post, "/proxies", redis).status, 201);
  const std::string listener = fixture.proxies.find("redis").value()->listen().text();
  const std::string line =
      R"(toxiproxy_proxy_received_bytes_total{direction="upstream",listener=")" + listener +
      R"(",proxy="redis",upstream="a:6379"} 0)";
  EXPECT_NE(fixture.ask(get, "/metrics").body.find(line), std::string::npos)
      << fixture.ask(get, "/metrics").body;
  ASSERT_EQ(fixture.ask(http::Method::remove, "/proxies/redis").status, 204);
  EXPECT_EQ(fixture.ask(get, "/metrics").body.find("redis"), std::string::npos);
}

TEST(ProxyApi, RefusesWebPagesAndOtherUsers) {
  const uid_t self = ::geteuid();
  const struct {
    http::Headers headers;
    bool admitted;
    std::optional<uid_t> caller = ::geteuid();
  } rows[] = {
      {{{"Host", "127.0.0.1:8474"}}, true},
      {{{"Host", "127.0.0.1:8474"}}, true, 0},
      {{{"Host", "127.0.0.1:8474"}}, false, self + 1},
      {{{"Host", "127.0.0.1:8474"}}, false, std::nullopt},
      {{{"Host", "localhost:8474"}, {"User-Agent", "toxiproxy-cli"}}, true},
      {{{"Host", "evil.example:8474"}}, false},
      {{{"Host", "127.0.0.1:80"}}, false},
      {{}, false},
      {{{"Host", "127.0.0.1:8474"}, {"Origin", "http://evil.example"}}, false},
      {{{"Host", "127.0.0.1:8474"}, {"Origin", "http://127.0.0.1:8474"}}, false},
      {{{"Host", "127.0.0.1:8474"}, {"User-Agent", "Mozilla/5.0 (X11)"}}, false},
  };
  const http::Gate gate = ProxyApi::gate();
  for (const auto& row : rows) {
    http::Request head{.method = post, .target = "/reset", .headers = row.headers};
    head.peer.local_address = "127.0.0.1";
    head.peer.local_port = 8474;
    if (row.caller) head.peer.owner = {.uid = *row.caller};
    const http::Admission admission = gate.admit(head);
    EXPECT_EQ(!admission.refusal, row.admitted) << head.headers.get("origin");
    EXPECT_EQ(admission.refusal ? admission.refusal->status : 0, row.admitted ? 0 : 403);
    EXPECT_EQ(admission.body_bytes, 1UL << 20);
  }
  EXPECT_EQ(ProxyApi::limits().reader.body_bytes, 1UL << 20);
}

TEST(ProxyJson, ListenAddressesAreThoseOfToxiproxy) {
  EXPECT_EQ(parse_listen("localhost:1").value().text(), "127.0.0.1:1");
  EXPECT_EQ(parse_listen(":1").value().text(), "0.0.0.0:1");
  EXPECT_EQ(parse_listen("[::1]:1").value().text(), "[::1]:1");
  EXPECT_FALSE(parse_listen("127.0.0.1"));
  EXPECT_EQ(read_proxy(R"({"name":"a","upstream":"a:1"})").value().listen.text(), "127.0.0.1:0");
}

}  // namespace
}  // namespace holdfast::agent::faults
