// A rejoin ends although the node goes on writing.

#include <gtest/gtest.h>

#include "platform/http/client.h"
#include "platform/loop/tasks.h"
#include "platform/loop/timer.h"
#include "test/unit/agent/edge/uplink/uplink_fixture.h"

namespace holdfast::agent::uplink::rejoin_end {
namespace {

using sync::autonomy::LinkState;

const std::string pods = "/api/v1/namespaces/a/pods";
const std::string events = "/api/v1/namespaces/a/events";

// A client that sends a request every 200 ms, or as often as it is answered. "#" in its body
// becomes the number of the request.
class Writer {
 public:
  Writer(UplinkFixture& fixture, http::Request request)
      : fixture_(fixture),
        client_(http::Endpoint{{"127.0.0.1", fixture.edge->port()}}),
        request_(std::move(request)),
        tasks_(fixture.time.executor()) {
    tasks_.spawn("writer", write());
  }
  ~Writer() { stop(); }

  void stop() {
    tasks_.cancel();
    fixture_.time.complete(tasks_.join());
  }

  int answered = 0;
  int refused = 0;     // answers other than 2xx
  Duration longest{};  // time until an answer

 private:
  asio::awaitable<void> write() {
    const Clock& clock = fixture_.time.clock();
    for (;;) {
      const MonoTime asked = clock.mono();
      http::Request request = request_;
      if (const std::size_t at = request.body.find('#'); at != std::string::npos) {
        request.body.replace(at, 1, std::to_string(answered));
      }
      const auto answer = co_await client_.send(std::move(request), asked + 1min);
      ++answered;
      if (!answer || answer->status >= 300) ++refused;
      longest = std::max<Duration>(longest, clock.mono() - asked);
      co_await loop::sleep_until(asked + 200ms);
    }
  }

  UplinkFixture& fixture_;
  http::Client client_;
  http::Request request_;
  loop::Tasks tasks_;
};

http::Request from_kubelet(http::Method method, std::string target, std::string body) {
  const bool is_patch = method == http::Method::patch;
  http::Request request{.method = method, .target = std::move(target), .body = std::move(body)};
  request.headers.add("User-Agent", "kubelet/v1");
  request.headers.add("Content-Type",
                      is_patch ? "application/strategic-merge-patch+json" : "application/json");
  return request;
}

http::Request status_of_pod(const std::string& message) {
  return from_kubelet(http::Method::patch, pods + "/p/status",
                      R"({"metadata":{"uid":"uid-p"},"status":{"message":")" + message + R"("}})");
}

// Cuts the link of an agent that has cached its pod.
void lose_cloud_of_pod(UplinkFixture& fixture) {
  fixture.cloud.put("/api/v1/nodes", "edge1");
  fixture.cloud.put(pods, "p", R"({"spec":{"nodeName":"edge1"}})");
  EXPECT_TRUE(fixture.until(LinkState::connected));
  EXPECT_EQ(fixture.ask("/api/v1/pods?fieldSelector=spec.nodeName%3Dedge1").status, 200);
  fixture.cut_link();
}

// A node with a pod whose cloud is unreachable, and answers late once it is back.
struct RejoinEnd : ::testing::TestWithParam<Duration> {
  RejoinEnd() {
    fixture.cloud.put("/api/v1/nodes", "edge1");
    fixture.cloud.put(pods, "p", R"({"spec":{"nodeName":"edge1"}})");
    EXPECT_TRUE(fixture.until(LinkState::connected));
    EXPECT_EQ(fixture.ask("/api/v1/pods?fieldSelector=spec.nodeName%3Dedge1").status, 200);
    EXPECT_EQ(fixture.ask("/api/v1/nodes?fieldSelector=metadata.name%3Dedge1").status, 200);
    fixture.servers[0]->latency = GetParam();
    fixture.time.run(2min);
    EXPECT_TRUE(fixture.until(LinkState::connected));
    fixture.cut_link();
  }

  UplinkFixture fixture{{.set = [](EdgeOptions& options) { options.rejoin_jitter = 0ms; }}};
};

TEST_P(RejoinEnd, StatusesThatNeverStopDoNotPutItOff) {
  Writer of_pod(fixture,
                from_kubelet(http::Method::patch, pods + "/p/status",
                             R"({"metadata":{"uid":"uid-p"},"status":{"phase":"Running"}})"));
  Writer of_node(fixture, from_kubelet(http::Method::patch, "/api/v1/nodes/edge1/status",
                                       R"({"status":{"nodeInfo":{"kernelVersion":"k"}}})"));
  fixture.time.run(5s);
  EXPECT_GE(of_pod.answered, 20);
  const std::size_t mark = fixture.cloud.asked.size();
  fixture.servers[0]->restore();
  ASSERT_TRUE(fixture.until(LinkState::rejoining));
  const auto took = fixture.until(LinkState::connected);
  ASSERT_TRUE(took);
  // The Node is read, statuses are sent as a GET and a PATCH, twice, and watches are opened.
  EXPECT_LE(*took, 8 * GetParam() + 1s);
  fixture.time.run(1min);
  EXPECT_EQ(fixture.state(), LinkState::connected) << fixture.reason();
  for (const Writer* writer : {&of_pod, &of_node}) {
    EXPECT_EQ(writer->refused, 0);
    EXPECT_LE(writer->longest, fixture.options.write_deadline);
  }
  EXPECT_EQ(fixture.metric("holdfast_edge_outbox_entries"), std::vector<std::string>{" 0"});
  EXPECT_EQ(fixture.cloud.count_lists("/api/v1/pods", mark), 0);
}

TEST_P(RejoinEnd, EventsNeitherWaitForItNorPutItOff) {
  Writer writer(fixture,
                from_kubelet(http::Method::post, events,
                             R"({"kind":"Event","apiVersion":"v1","metadata":{"name":"e#",)"
                             R"("namespace":"a"},"reason":"Pulled"})"));
  fixture.time.run(2s);
  fixture.servers[0]->restore();
  ASSERT_TRUE(fixture.until(LinkState::rejoining));
  const auto took = fixture.until(LinkState::connected);
  ASSERT_TRUE(took);
  EXPECT_LE(*took, 6 * GetParam() + 1s);
  EXPECT_LE(writer.longest, 100ms) << "accepted here";
  fixture.time.run(30s);
  EXPECT_EQ(fixture.state(), LinkState::connected) << fixture.reason();
  writer.stop();
  fixture.time.run(10s);
  EXPECT_EQ(writer.refused, 0);
  EXPECT_GE(fixture.cloud.count("POST " + events), writer.answered) << "none is left behind";
  EXPECT_EQ(fixture.metric("holdfast_edge_outbox_entries"), std::vector<std::string>{" 0"});
}

// A rejoin whose reads are not answered takes long. The kubelet's writes do not wait for all of it.
TEST(LongRejoin, AWriteIsAcceptedHereAfterItsDeadline) {
  UplinkFixture fixture({.set = [](EdgeOptions& options) { options.rejoin_jitter = 0ms; }});
  lose_cloud_of_pod(fixture);
  ASSERT_EQ(fixture.ask(status_of_pod("older")).status, 200);
  bool is_silent = true;
  fixture.servers[0]->special =
      [&is_silent](const http::Request& request) -> std::optional<http::Response> {
    if (!is_silent || request.path().find("/pods") == std::string_view::npos) return std::nullopt;
    return http::Response{.status = 0};
  };
  fixture.servers[0]->restore();
  ASSERT_TRUE(fixture.until(LinkState::rejoining));
  const MonoTime asked = fixture.time.clock().mono();
  EXPECT_EQ(fixture.ask(status_of_pod("newer")).status, 200);
  EXPECT_LE(fixture.time.clock().mono() - asked, fixture.options.write_deadline + 1s);
  is_silent = false;
  fixture.time.run(2min);
  EXPECT_EQ(fixture.state(), LinkState::connected) << fixture.reason();
  EXPECT_NE(fixture.cloud.object(pods, "p").find("newer"), std::string::npos);
  EXPECT_EQ(fixture.metric("holdfast_edge_outbox_entries"), std::vector<std::string>{" 0"});
}

// A status that could not be replayed is tried again while connected. A newer one that the API
// server accepts meanwhile must remain, although the older one is just being sent.
TEST(LateReplay, DoesNotOverwriteANewerStatus) {
  for (const bool is_read : {true, false}) {
    SCOPED_TRACE(is_read ? "the pod is being read" : "the status is being sent");
    UplinkFixture fixture;
    lose_cloud_of_pod(fixture);
    ASSERT_EQ(fixture.ask(status_of_pod("older")).status, 200);
    int unanswered = 0;
    fixture.servers[0]->special =
        [&](const http::Request& request) -> std::optional<http::Response> {
      const bool of_pod = request.path() == pods + "/p" || request.path() == pods + "/p/status";
      const bool reads = request.method == http::Method::get;
      const bool is_newer = request.body.find("newer") != std::string::npos;
      if (!of_pod || reads != is_read || is_newer) return std::nullopt;
      ++unanswered;
      return http::Response{.status = 0};
    };
    fixture.restore_link();
    const int before = unanswered;
    ASSERT_TRUE(fixture.time.run_until(2min, [&] { return unanswered > before; }));
    ASSERT_EQ(fixture.state(), LinkState::connected);
    EXPECT_EQ(fixture.ask(status_of_pod("newer")).status, 200);
    fixture.servers[0]->special = [](const http::Request&) { return std::nullopt; };
    fixture.time.run(5min);
    EXPECT_NE(fixture.cloud.object(pods, "p").find("newer"), std::string::npos);
    EXPECT_EQ(fixture.metric("holdfast_edge_outbox_entries"), std::vector<std::string>{" 0"});
  }
}

INSTANTIATE_TEST_SUITE_P(Latency, RejoinEnd, ::testing::Values(100ms, 400ms, 1s, 1500ms, 3s),
                         [](const auto& latency) {
                           return std::to_string(latency.param / 1ms) + "ms";
                         });

}  // namespace
}  // namespace holdfast::agent::uplink::rejoin_end
