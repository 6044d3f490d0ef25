// Paths to the cloud whose answers take long: the agent connects, stays connected, and renews the
// lease in time.

#include <gtest/gtest.h>

#include <algorithm>

#include "agent/edge/route/answer.h"
#include "sync/wire/json.h"
#include "test/support/certificates.h"
#include "test/support/scratch_dir.h"
#include "test/unit/agent/edge/uplink/uplink_fixture.h"

namespace holdfast::agent::uplink::slow_path {
namespace {

using sync::autonomy::LinkState;

// What the status says of the only server's heartbeats.
std::pair<std::int64_t, std::int64_t> shown(UplinkFixture& fixture) {
  const auto status = sync::wire::parse_json(fixture.admin("/v1/status")).value();
  const sync::json::value& server = status.at("link").at("servers").at(0);
  return {server.at("heartbeat_ms").as_int64(), server.at("heartbeat_limit_ms").as_int64()};
}

// A new TLS connection needs four round trips until the answer is there.
TEST(SlowPath, TheAgentConnectsWhateverTheRoundTrip) {
  const struct {
    Duration round_trip;
    Duration connects_within;
  } rows[] = {{0ms, 1s}, {400ms, 10s}, {600ms, 10s}, {2s, 40s}};
  for (const auto& row : rows) {
    SCOPED_TRACE(format_duration(row.round_trip));
    const test::Authority authority("cluster");
    const auto tls = tls::Context::for_server(
        {.identity = authority.sign({.common_name = "s", .names = {"IP:127.0.0.1"}})});
    UplinkFixture fixture({.tls = tls.value(), .cluster = "insecure-skip-tls-verify: true"});
    fixture.stop();
    fixture.time.network().set_link({"127.0.0.1", fixture.servers[0]->port()},
                                    {.latency = row.round_trip / 2});
    fixture.start();
    EXPECT_TRUE(fixture.until(LinkState::connected, row.connects_within)) << fixture.reason();
    const MonoTime since = fixture.time.clock().mono();
    const WallTime connected = fixture.time.clock().wall();
    fixture.time.run(10min);
    EXPECT_EQ(fixture.edge->uplink().link().since(), since) << "it has not been lost since";
    EXPECT_LE(fixture.longest_gap(connected), 20s);
    const std::int64_t took = shown(fixture).first;
    EXPECT_GE(took, row.round_trip / 1ms);
    EXPECT_LE(took, 2 * (row.round_trip / 1ms)) << "new connections take longer, but are rare";
  }
}

TEST(SlowPath, SlowAnswersNeverLetTheLeaseAge) {
  for (const Duration latency : {1300ms, 3000ms, 8000ms}) {
    SCOPED_TRACE(format_duration(latency));
    UplinkFixture fixture;
    ASSERT_TRUE(fixture.until(LinkState::connected));
    fixture.time.run(30s);
    const WallTime from = fixture.time.clock().wall();
    fixture.servers[0]->latency = latency;
    fixture.time.run(2min);
    EXPECT_TRUE(fixture.until(LinkState::connected)) << fixture.reason();
    const WallTime connected = fixture.time.clock().wall();
    fixture.time.run(10min);
    EXPECT_EQ(fixture.state(), LinkState::connected) << fixture.reason();
    EXPECT_LE(fixture.longest_gap(from), 40s) << "then the node is not Ready";
    EXPECT_LE(fixture.longest_gap(connected), 20s);
    const auto [took, limit] = shown(fixture);
    EXPECT_NEAR(static_cast<double>(took), static_cast<double>(latency / 1ms), 100);
    EXPECT_NEAR(static_cast<double>(limit), std::min(5.0 * static_cast<double>(took), 10'000.0),
                20);
    fixture.servers[0]->latency = {};
    fixture.time.run(10min);
    EXPECT_EQ(fixture.state(), LinkState::connected);
    EXPECT_EQ(shown(fixture).second, 1000) << "a black hole is noticed as quickly as before";
  }
}

// A rejoin takes several round trips, and may end just before a renewal that was due in it.
TEST(SlowPath, TheLeaseIsRenewedDuringARejoinAndSoonAfterIt) {
  for (Duration latency = 500ms; latency <= 8s; latency += 500ms) {
    SCOPED_TRACE(format_duration(latency));
    UplinkFixture fixture;
    ASSERT_TRUE(fixture.until(LinkState::connected));
    ASSERT_EQ(fixture.ask("/api/v1/pods?fieldSelector=spec.nodeName%3Dedge1").status, 200);
    fixture.servers[0]->latency = latency;
    fixture.time.run(2min);
    fixture.cut_link();
    fixture.servers[0]->restore();
    ASSERT_TRUE(fixture.until(LinkState::rejoining));
    const WallTime from = fixture.time.clock().wall();
    ASSERT_TRUE(fixture.until(LinkState::connected)) << fixture.reason();
    fixture.time.run(1min);
    EXPECT_LE(fixture.longest_gap(from), 20s);
  }
}

// A read waits for two seconds, which is less than a heartbeat takes here.
// A read whose answer would come too late is not sent: its bytes would be wasted.
TEST(SlowPath, ReadsAreAnsweredFromTheCacheAtOnceAndTellNothingOfTheLink) {
  const std::string pods = "/api/v1/pods?fieldSelector=spec.nodeName%3Dedge1";
  UplinkFixture fixture;
  const auto sent = [&fixture, &pods] {
    const auto& asked = fixture.cloud.asked;
    return std::count_if(asked.begin(), asked.end(),
                         [&pods](const auto& each) { return each.what == "GET " + pods; });
  };
  const auto answers_late = [&fixture] {
    const auto status = sync::wire::parse_json(fixture.admin("/v1/status")).value();
    return status.at("link").at("answers_late").as_bool();
  };
  fixture.cloud.put("/api/v1/namespaces/a/pods", "p", R"({"spec":{"nodeName":"edge1"}})");
  ASSERT_TRUE(fixture.until(LinkState::connected));
  ASSERT_EQ(fixture.ask(pods).status, 200);
  fixture.servers[0]->latency = 3s;
  fixture.time.run(2min);
  ASSERT_TRUE(fixture.until(LinkState::connected)) << fixture.reason();
  fixture.time.run(1min);
  EXPECT_TRUE(answers_late());
  EXPECT_EQ(fixture.metric("holdfast_edge_link_answers_late"), std::vector<std::string>{" 1"});
  const auto before = sent();
  EXPECT_GT(before, 0) << "the first one";
  for (int i = 0; i < 20; ++i) {
    const MonoTime asked = fixture.time.clock().mono();
    const http::Response answer = fixture.ask(pods);
    EXPECT_EQ(answer.status, 200);
    EXPECT_NE(answer.body.find("\"name\":\"p\""), std::string::npos);
    EXPECT_LE(fixture.time.clock().mono() - asked, 100ms);
    EXPECT_EQ(fixture.state(), LinkState::connected) << fixture.reason();
    fixture.time.run(1s);
  }
  EXPECT_EQ(sent(), before);

  // Once a renewal is answered in time, the API server is asked again.
  fixture.servers[0]->latency = 1s;
  fixture.time.run(25s);
  EXPECT_FALSE(answers_late());
  EXPECT_EQ(fixture.ask(pods).status, 200);
  EXPECT_EQ(sent(), before + 1);
}

// The first answers to a read take the read's own limit: nothing is known of the path yet.
TEST(SlowPath, UntilThePathIsKnownReadsWaitTwoSeconds) {
  const std::string pods = "/api/v1/pods?fieldSelector=spec.nodeName%3Dedge1";
  UplinkFixture fixture;
  fixture.cloud.put("/api/v1/namespaces/a/pods", "p", R"({"spec":{"nodeName":"edge1"}})");
  ASSERT_TRUE(fixture.until(LinkState::connected));
  ASSERT_EQ(fixture.ask(pods).status, 200);
  fixture.servers[0]->latency = 2500ms;
  const MonoTime asked = fixture.time.clock().mono();
  const http::Response answer = fixture.ask(pods);
  EXPECT_EQ(answer.status, 200);
  EXPECT_NE(answer.body.find("\"name\":\"p\""), std::string::npos);
  EXPECT_GE(fixture.time.clock().mono() - asked, 2s);
  EXPECT_LE(fixture.time.clock().mono() - asked, 2100ms);
}

// Nothing else can answer it, so the caller waits longer than for other reads. What was passed on
// is not kept.
TEST(SlowPath, ADocumentThatWasNeverFetchedIsPassedOn) {
  const std::string document = "/openapi/v2";
  UplinkFixture fixture;
  ASSERT_TRUE(fixture.until(LinkState::connected));
  fixture.servers[0]->special = [&document](const http::Request& request) {
    const bool is_asked = request.path() == document;
    return is_asked ? std::optional(json_response(200, R"({"swagger":"2.0"})")) : std::nullopt;
  };
  fixture.servers[0]->latency = 3s;
  fixture.time.run(2min);
  ASSERT_TRUE(fixture.until(LinkState::connected)) << fixture.reason();
  for (const bool is_fetched : {false, true}) {
    SCOPED_TRACE(is_fetched);
    const MonoTime asked = fixture.time.clock().mono();
    const http::Response answer = fixture.ask(document, "kubectl");
    EXPECT_EQ(answer.status, 200) << answer.body;
    EXPECT_EQ(answer.body, R"({"swagger":"2.0"})");
    const Duration took = fixture.time.clock().mono() - asked;
    EXPECT_LE(took, is_fetched ? 100ms : 6s);
    EXPECT_EQ(fixture.state(), LinkState::connected) << fixture.reason();
    fixture.cut_link();
    EXPECT_EQ(fixture.ask(document, "kubectl").status, is_fetched ? 200 : 503);
    fixture.restore_link();
    fixture.servers[0]->latency = {};
    fixture.time.run(1min);
    EXPECT_EQ(fixture.ask(document, "kubectl").status, 200);
  }
}

// What can be accepted here waits for the API server as long as a heartbeat does. Sooner it would
// be given up while the link counts as connected, and nobody would accept it.
TEST(SlowPath, WritesWaitAsLongAsThePathTakes) {
  const std::string pods = "/api/v1/namespaces/a/pods";
  const std::string token = "/api/v1/namespaces/a/serviceaccounts/default/token";
  UplinkFixture fixture;
  fixture.cloud.put(pods, "p", R"({"spec":{"nodeName":"edge1"}})");
  ASSERT_TRUE(fixture.until(LinkState::connected));
  fixture.servers[0]->latency = 3s;
  fixture.time.run(2min);
  ASSERT_TRUE(fixture.until(LinkState::connected)) << fixture.reason();
  fixture.time.run(1min);
  const http::Headers from_kubelet{{"User-Agent", "kubelet/v1"},
                                   {"Content-Type", "application/strategic-merge-patch+json"}};
  const http::Response status =
      fixture.ask({.method = http::Method::patch,
                   .target = pods + "/p/status",
                   .headers = from_kubelet,
                   .body = R"({"metadata":{"uid":"uid-p"},"status":{"phase":"Running"}})"});
  EXPECT_EQ(status.status, 200) << status.body;
  EXPECT_NE(fixture.cloud.object(pods, "p").find("Running"), std::string::npos);
  fixture.servers[0]->special = [&token](const http::Request& request) {
    const bool is_token = request.path() == token;
    return is_token ? std::optional<http::Response>({.status = 201, .body = "{}"}) : std::nullopt;
  };
  const http::Response issued =
      fixture.ask({.method = http::Method::post,
                   .target = token,
                   .headers = {{"User-Agent", "kubelet/v1"}, {"Content-Type", "application/json"}},
                   .body = R"({"kind":"TokenRequest","spec":{}})"});
  EXPECT_EQ(issued.status, 201) << issued.body;
  EXPECT_EQ(fixture.state(), LinkState::connected);
}

}  // namespace
}  // namespace holdfast::agent::uplink::slow_path
