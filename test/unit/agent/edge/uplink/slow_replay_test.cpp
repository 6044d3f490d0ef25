// What is large arrives over a slow line: what was written offline, also at a server that takes
// little at a time, and single objects. The node stays in touch meanwhile.

#include <gtest/gtest.h>

#include "test/support/certificates.h"
#include "test/unit/agent/edge/uplink/uplink_fixture.h"

namespace holdfast::agent::uplink::slow_replay {
namespace {

using sync::autonomy::LinkState;

constexpr const char* pods = "/api/v1/namespaces/a/pods";
constexpr const char* our_pods = "/api/v1/pods?fieldSelector=spec.nodeName%3Dedge1";

struct Site {
  const char* what;
  std::int64_t bytes_per_s;  // in each direction
  int pods;
  std::size_t pod_bytes;
  std::size_t status_bytes;
  Duration limit;  // until everything has arrived
};

void PrintTo(const Site& site, std::ostream* out) { *out << site.what; }

std::shared_ptr<const tls::Context> http2() {
  static const test::Authority authority("cluster");
  return tls::Context::for_server(
             {.identity = authority.sign({.common_name = "s", .names = {"IP:127.0.0.1"}}),
              .protocols = {"h2", "http/1.1"}})
      .value();
}

struct SlowReplay : ::testing::TestWithParam<Site> {
  SlowReplay() {
    fixture.stop();
    fixture.time.network().set_link({"127.0.0.1", fixture.servers[0]->port()},
                                    {.latency = 50ms, .bytes_per_s = GetParam().bytes_per_s});
    for (int number = 0; number < GetParam().pods; ++number) {
      fixture.cloud.put(pods, name_of(number),
                        R"({"spec":{"nodeName":"edge1","hostname":")" +
                            std::string(GetParam().pod_bytes, 'x') + R"("},"status":{}})");
    }
    fixture.start();
    EXPECT_TRUE(fixture.until(LinkState::connected));
    EXPECT_TRUE(
        fixture.time.run_until(10min, [this] { return fixture.ask(our_pods).status == 200; }));
    fixture.time.run(1min);
  }

  static std::string name_of(int number) { return "p" + std::to_string(number); }

  http::Request status_of(int number) const {
    return {.method = http::Method::patch,
            .target = std::string(pods) + "/" + name_of(number) + "/status",
            .headers = {{"User-Agent", "kubelet/v1"},
                        {"Content-Type", "application/strategic-merge-patch+json"}},
            .body = R"({"metadata":{"uid":"uid-)" + name_of(number) +
                    R"("},"status":{"message":")" + std::string(GetParam().status_bytes, 'y') +
                    "\"}}"};
  }

  [[nodiscard]] int arrived() const {
    int count = 0;
    for (int number = 0; number < GetParam().pods; ++number) {
      const std::string object = fixture.cloud.object(pods, name_of(number));
      if (object.find("yyy") != std::string::npos) ++count;
    }
    return count;
  }

  UplinkFixture fixture{{.tls = http2(), .cluster = "insecure-skip-tls-verify: true"}};
};

TEST_P(SlowReplay, EverythingArrivesAndTheLeaseIsRenewed) {
  const Site& site = GetParam();
  fixture.cut_link();
  for (int number = 0; number < site.pods; ++number) {
    ASSERT_EQ(fixture.ask(status_of(number)).status, 200) << number;
  }
  fixture.servers[0]->restore();
  ASSERT_TRUE(fixture.until(LinkState::connected, 3min)) << fixture.reason();
  const WallTime since = fixture.time.clock().wall();
  const MonoTime began = fixture.time.clock().mono();
  EXPECT_TRUE(fixture.time.run_until(site.limit, [&] { return arrived() == site.pods; }))
      << arrived() << " of " << site.pods;
  RecordProperty("seconds", std::to_string((fixture.time.clock().mono() - began) / 1s));
  EXPECT_EQ(fixture.state(), LinkState::connected) << fixture.reason();
  EXPECT_LE(fixture.longest_gap(since), 20s);
}

constexpr std::size_t kilobyte = 1000;

INSTANTIATE_TEST_SUITE_P(
    Sites, SlowReplay,
    ::testing::Values(Site{"many", 16'000, 40, 10 * kilobyte, 2 * kilobyte, 3min},
                      Site{"large", 16'000, 24, 40 * kilobyte, 4 * kilobyte, 5min},
                      Site{"huge", 16'000, 2, 400 * kilobyte, 4 * kilobyte, 5min},
                      Site{"much to tell", 16'000, 12, 1 * kilobyte, 60 * kilobyte, 5min},
                      Site{"more than the server takes", 0, 8, 1 * kilobyte, 1900 * kilobyte,
                           5min}),
    [](const auto& info) { return "Row" + std::to_string(info.index); });

// Directly this takes 44 s, and an API server allows a minute.
TEST(SlowPath, ALargeObjectArrives) {
  const std::string secrets = "/api/v1/namespaces/a/secrets";
  const std::string claims = "/api/v1/namespaces/a/persistentvolumeclaims";
  const struct {
    const char* what;
    std::string collection;
    std::string one;
    bool may_list;
    bool is_kept;
  } rows[] = {{"listed", secrets, "?fieldSelector=metadata.name%3Ds&", true, true},
              {"got by name instead", secrets, "?fieldSelector=metadata.name%3Ds&", false, true},
              {"passed on to the client", claims, "/s?", true, false}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    UplinkFixture fixture({.tls = http2(), .cluster = "insecure-skip-tls-verify: true"});
    ASSERT_TRUE(fixture.until(LinkState::connected));
    fixture.time.network().set_link({"127.0.0.1", fixture.servers[0]->port()},
                                    {.latency = 50ms, .bytes_per_s = 16'000});
    const std::string data(700'000, 'x');
    fixture.cloud.put(row.collection, "s", R"({"data":{"a":")" + data + "\"}}");
    fixture.servers[0]->special =
        [&row](const http::Request& request) -> std::optional<http::Response> {
      if (row.may_list || request.path() != row.collection) return std::nullopt;
      return http::Response{.status = 403, .body = "{}"};
    };
    http::Response answer = fixture.ask(row.collection + row.one + "resourceVersion=0");
    if (row.is_kept) {
      fixture.time.run(1min);
      EXPECT_EQ(fixture.state(), LinkState::connected) << fixture.reason();
      fixture.cut_link();
      answer = fixture.ask(row.collection + row.one + "resourceVersion=0");
    }
    EXPECT_EQ(answer.status, 200) << answer.body.substr(0, 300);
    EXPECT_NE(answer.body.find(data), std::string::npos);
  }
}

}  // namespace
}  // namespace holdfast::agent::uplink::slow_replay
