// The API server's answers to writes, and what the agent may conclude from them.

#include <gtest/gtest.h>

#include "agent/edge/route/answer.h"
#include "platform/time.h"
#include "test/unit/agent/edge/uplink/uplink_fixture.h"

namespace holdfast::agent::uplink::written {
namespace {

using sync::autonomy::LinkState;

constexpr const char* csi_nodes = "/apis/storage.k8s.io/v1/csinodes";
constexpr const char* csi_node = "/apis/storage.k8s.io/v1/csinodes/edge1";
constexpr const char* pods = "/api/v1/namespaces/a/pods";
constexpr const char* token = "/api/v1/namespaces/a/serviceaccounts/default/token";
constexpr const char* our_pods =
    "/api/v1/pods?fieldSelector=spec.nodeName%3Dedge1&resourceVersion=0";

http::Request write(http::Method method, const std::string& target, std::string body) {
  http::Request request{.method = method, .target = target, .body = std::move(body)};
  request.headers.add("User-Agent", "kubelet/v1");
  const bool patch = method == http::Method::patch;
  request.headers.add("Content-Type", patch ? "application/merge-patch+json" : "application/json");
  return request;
}

// Gives this answer to all such requests, instead of the cloud's.
void answer_writes(UplinkFixture& fixture, int status, const std::string& body) {
  fixture.servers[0]->special = [status, body](const http::Request& request) {
    const bool read = request.method == http::Method::get;
    const bool lease = request.path().find("/leases") != std::string_view::npos;
    std::optional<http::Response> answer;
    if (!read && !lease) answer = json_response(status, body);
    return answer;
  };
}

std::string csi_answer(const std::string& kind, const std::string& api_version,
                       const std::string& driver) {
  return R"({"kind":")" + kind + R"(","apiVersion":")" + api_version +
         R"(","metadata":{"name":"edge1","uid":"uid-edge1","resourceVersion":"500"},"spec":{)" +
         R"("drivers":[{"name":")" + driver + "\"}]}}";
}

TEST(Written, AnAnswerThatIsNotTheObjectIsNotCached) {
  struct Case {
    const char* why;
    std::string target;
    std::string answer;
    const char* driver;  // what the cache contains afterwards
  };
  const Case cases[] = {
      {"a dry run", std::string(csi_node) + "?dryRun=All",
       csi_answer("CSINode", "storage.k8s.io/v1", "tried"), "real"},
      {"metadata alone", csi_node, csi_answer("PartialObjectMetadata", "meta.k8s.io/v1", "partial"),
       "real"},
      {"a table", csi_node, csi_answer("Table", "meta.k8s.io/v1", "table"), "real"},
      {"the object", csi_node, csi_answer("CSINode", "storage.k8s.io/v1", "new"), "new"},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.why);
    UplinkFixture fixture;
    fixture.cloud.put(csi_nodes, "edge1", R"({"spec":{"drivers":[{"name":"real"}]}})");
    ASSERT_TRUE(fixture.until(LinkState::connected));
    ASSERT_EQ(fixture.ask(csi_node).status, 200);
    answer_writes(fixture, 200, each.answer);
    EXPECT_EQ(fixture.ask(write(http::Method::patch, each.target, "{}")).body, each.answer);
    fixture.time.run(1s);
    fixture.cut_link();
    const http::Response cached = fixture.ask(csi_node);
    EXPECT_EQ(cached.status, 200);
    EXPECT_NE(cached.body.find("\"" + std::string(each.driver) + "\""), std::string::npos)
        << cached.body;
    EXPECT_NE(cached.body.find(R"("kind":"CSINode")"), std::string::npos) << cached.body;
  }
}

TEST(Written, ADryRunGivesNoTokenForLater) {
  UplinkFixture fixture;
  ASSERT_TRUE(fixture.until(LinkState::connected));
  const std::string ends = format_rfc3339(fixture.time.clock().wall() + 2h);
  const std::string request = R"({"kind":"TokenRequest","spec":{"audiences":["a"]}})";
  answer_writes(
      fixture, 201,
      R"({"kind":"TokenRequest","status":{"token":"","expirationTimestamp":")" + ends + "\"}}");
  EXPECT_EQ(
      fixture.ask(write(http::Method::post, std::string(token) + "?dryRun=All", request)).status,
      201);
  fixture.cut_link();
  EXPECT_EQ(fixture.ask(write(http::Method::post, token, request)).status, 503);
}

TEST(Written, OfflineADryRunIsRefusedAndChangesNothing) {
  UplinkFixture fixture;
  fixture.cloud.put(pods, "p", R"({"spec":{"nodeName":"edge1"},"status":{"phase":"Running"}})");
  fixture.cloud.put("/api/v1/nodes", "edge1", R"({"status":{"phase":"before"}})");
  ASSERT_TRUE(fixture.until(LinkState::connected));
  ASSERT_EQ(fixture.ask(our_pods).status, 200);
  ASSERT_EQ(fixture.ask("/api/v1/nodes?fieldSelector=metadata.name%3Dedge1").status, 200);
  fixture.cut_link();
  const std::string pod = std::string(pods) + "/p";
  const std::string mirror = R"({"metadata":{"name":"m","namespace":"a","annotations":{)"
                             R"("kubernetes.io/config.mirror":"x"}},"spec":{"nodeName":"edge1"}})";
  using Method = http::Method;
  const http::Request tried[] = {
      write(Method::remove, pod + "?dryRun=All&gracePeriodSeconds=0", ""),
      write(Method::remove, pod, R"({"gracePeriodSeconds":0,"dryRun":["All"]})"),
      write(Method::patch, pod + "/status?dryRun=All", R"({"status":{"phase":"Failed"}})"),
      write(Method::patch, "/api/v1/nodes/edge1/status?dryRun=All", R"({"status":{"phase":"x"}})"),
      write(Method::post, std::string(pods) + "?dryRun=All", mirror),
      write(Method::post, "/api/v1/namespaces/a/events?dryRun=All",
            R"({"metadata":{"name":"e","namespace":"a"}})"),
      write(Method::post,
            "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases?dryRun=All",
            R"({"metadata":{"name":"edge1","namespace":"kube-node-lease"}})"),
  };
  const std::string before = fixture.ask(our_pods).body;
  for (const http::Request& each : tried) {
    SCOPED_TRACE(each.target + " " + each.body);
    const http::Response answer = fixture.ask(each);
    EXPECT_EQ(answer.status, 503) << answer.body;
    EXPECT_EQ(fixture.ask(our_pods).body, before);
  }
  EXPECT_EQ(fixture.metric("holdfast_edge_outbox_entries"), std::vector<std::string>{" 0"});
  const std::size_t from = fixture.cloud.asked.size();
  fixture.restore_link();
  EXPECT_EQ(fixture.cloud.count("DELETE", from), 0);
  EXPECT_EQ(fixture.cloud.count("POST", from), 0);
  EXPECT_EQ(fixture.cloud.count("PATCH /api/v1", from), 0);
}

// The API server has created the node, so no client may get 404 for it, although the watch has not
// delivered it yet.
TEST(Written, ANodeThatWasCreatedIsThereWhenTheLinkBreaksAtOnce) {
  const std::string list = "/api/v1/nodes?fieldSelector=metadata.name%3Dedge1";
  const std::string node =
      R"({"kind":"Node","apiVersion":"v1","metadata":{"name":"edge1","uid":"u",)"
      R"("resourceVersion":"500"},"spec":{}})";
  struct Case {
    const char* why;
    std::string target;
    std::string answer;
    int expected;
  };
  const Case cases[] = {
      {"created", "/api/v1/nodes", node, 200},
      {"tried only", "/api/v1/nodes?dryRun=All", node, 404},
      {"another node", "/api/v1/nodes", std::string(node).replace(node.find("edge1"), 5, "edge2"),
       404},
      {"no object", "/api/v1/nodes", R"({"kind":"Node","metadata":{"name":"edge1"}})", 404},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.why);
    UplinkFixture fixture;
    fixture.cloud.remove("/api/v1/nodes", "edge1");
    ASSERT_TRUE(fixture.until(LinkState::connected));
    ASSERT_EQ(fixture.ask(list).status, 200);
    answer_writes(fixture, 201, each.answer);
    EXPECT_EQ(fixture.ask(write(http::Method::post, each.target, node)).status, 201);
    fixture.cut_link();
    EXPECT_EQ(fixture.ask("/api/v1/nodes/edge1").status, each.expected);
    const bool listed = fixture.ask(list).body.find("edge1") != std::string::npos;
    EXPECT_EQ(listed, each.expected == 200);
  }
}

// A kubelet that was told that its node exists does not register it again. If the cloud has lost
// the node, for example while a machine was off for weeks, the agent registers it later.
TEST(Written, ARegistrationReachesACloudThatHasLostTheNode) {
  struct Case {
    const char* why;
    bool deleted;  // in the cloud, while it is unreachable
    bool started;  // the agent is restarted while the cloud is unreachable
    std::size_t sent;
  };
  const Case cases[] = {{"deleted", true, false, 1},
                        {"deleted, and the box was off", true, true, 1},
                        {"still there", false, false, 0},
                        {"still there, and the box was off", false, true, 0}};
  const std::string list = "/api/v1/nodes?fieldSelector=metadata.name%3Dedge1";
  const std::string node = R"({"metadata":{"name":"edge1","labels":{"of":"the kubelet"}}})";
  for (const Case& each : cases) {
    SCOPED_TRACE(each.why);
    UplinkFixture fixture;
    ASSERT_TRUE(fixture.until(LinkState::connected));
    ASSERT_EQ(fixture.ask(list).status, 200);
    fixture.lose_link(each.started);
    if (each.deleted) fixture.cloud.remove("/api/v1/nodes", "edge1");
    EXPECT_EQ(fixture.ask(write(http::Method::post, "/api/v1/nodes", node)).status, 409);
    EXPECT_EQ(fixture.ask(write(http::Method::post, "/api/v1/nodes", node)).status, 409);
    std::vector<std::string> bodies;
    fixture.servers[0]->special = [&bodies](const http::Request& request) {
      if (request.method == http::Method::post) bodies.push_back(request.body);
      return std::nullopt;
    };
    fixture.restore_link();
    EXPECT_EQ(bodies, std::vector<std::string>(each.sent, node));
    EXPECT_EQ(fixture.metric("holdfast_edge_outbox_entries"), std::vector<std::string>{" 0"});
  }
}

}  // namespace
}  // namespace holdfast::agent::uplink::written
