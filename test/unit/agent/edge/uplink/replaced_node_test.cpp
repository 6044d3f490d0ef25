// A Node that is deleted and registered again, with the same name and another uid.

#include <gtest/gtest.h>

#include "agent/edge/route/answer.h"
#include "test/unit/agent/edge/uplink/uplink_fixture.h"

namespace holdfast::agent::uplink::replaced_node {
namespace {

using sync::autonomy::LinkState;

constexpr const char* nodes = "/api/v1/nodes";

std::string owner_of_lease(const UplinkFixture& fixture) {
  const std::string& lease = fixture.cloud.lease();
  if (lease.empty()) return "no lease";
  const auto object = sync::wire::parse_json(lease).value();
  return std::string(object.at_pointer("/metadata/ownerReferences/0/uid").as_string());
}

// Runs for `time`. The garbage collector runs every second. Returns how many leases it deleted.
int run_with_garbage_collector(UplinkFixture& fixture, Duration time) {
  int deleted = 0;
  for (Duration passed{}; passed < time; passed += 1s) {
    fixture.time.run(1s);
    deleted += fixture.cloud.collect_garbage() ? 1 : 0;
  }
  return deleted;
}

// A connected agent whose kubelet watches its Node.
void prepare(UplinkFixture& fixture) {
  ASSERT_TRUE(fixture.until(LinkState::connected));
  ASSERT_EQ(fixture.ask("/api/v1/nodes?fieldSelector=metadata.name%3Dedge1").status, 200);
  fixture.time.run(30s);
  ASSERT_EQ(owner_of_lease(fixture), "uid-edge1");
}

TEST(ReplacedNode, TheLeaseFollowsItsNode) {
  UplinkFixture fixture;
  prepare(fixture);
  fixture.cloud.remove(nodes, "edge1");
  EXPECT_EQ(run_with_garbage_collector(fixture, 2min), 1) << "and none is created without a Node";
  EXPECT_EQ(owner_of_lease(fixture), "no lease");
  fixture.cloud.put(nodes, "edge1", "{}", "uid-2");
  EXPECT_EQ(run_with_garbage_collector(fixture, 2min), 0);
  EXPECT_EQ(owner_of_lease(fixture), "uid-2");
  EXPECT_EQ(fixture.state(), LinkState::connected);
}

TEST(ReplacedNode, ALeaseThatOutlivesItsNodeIsTakenOver) {
  UplinkFixture fixture;
  prepare(fixture);
  fixture.cloud.remove(nodes, "edge1");
  fixture.cloud.put(nodes, "edge1", "{}", "uid-2");
  fixture.time.run(25s);
  EXPECT_EQ(owner_of_lease(fixture), "uid-2");
  EXPECT_EQ(run_with_garbage_collector(fixture, 1min), 0);
}

TEST(ReplacedNode, DuringAnOutage) {
  UplinkFixture fixture;
  prepare(fixture);
  fixture.cut_link();
  fixture.cloud.remove(nodes, "edge1");
  fixture.cloud.put(nodes, "edge1", "{}", "uid-2");
  EXPECT_TRUE(fixture.cloud.collect_garbage());
  fixture.restore_link();
  EXPECT_EQ(run_with_garbage_collector(fixture, 1min), 0);
  EXPECT_EQ(owner_of_lease(fixture), "uid-2");
}

http::Request from_kubelet(http::Method method, const std::string& target, std::string body) {
  http::Request request{.method = method, .target = target, .body = std::move(body)};
  request.headers.add("User-Agent", "kubelet/v1");
  const bool patch = method == http::Method::patch;
  request.headers.add("Content-Type",
                      patch ? "application/strategic-merge-patch+json" : "application/json");
  return request;
}

const std::string registration =
    R"({"kind":"Node","apiVersion":"v1","metadata":{"name":"edge1","labels":{"site":"a"}}})";
const std::string beat = R"({"metadata":{"uid":"uid-edge1"},"status":{"phase":"beating"}})";

// A cloud that lets a node register, or refuses that with `refuses`.
struct Registry {
  std::vector<std::string> registered;  // the bodies
  std::vector<std::string> events;      // the bodies
  int refuses = 0;

  void serve(UplinkFixture& fixture) {
    fixture.servers[0]->special =
        [this, &fixture](const http::Request& request) -> std::optional<http::Response> {
      if (request.method != http::Method::post) return std::nullopt;
      if (request.path().ends_with("/events")) {
        events.push_back(request.body);
        return json_response(201, request.body);
      }
      if (request.path() != nodes) return std::nullopt;
      registered.push_back(request.body);
      if (refuses != 0) return json_response(refuses, "{}");
      if (!fixture.cloud.object(nodes, "edge1").empty()) return json_response(409, "{}");
      fixture.cloud.put(nodes, "edge1", "{}", "uid-2");
      return json_response(201, fixture.cloud.object(nodes, "edge1"));
    };
  }
  // The kubelet starts and finds its Node.
  void start_kubelet(UplinkFixture& fixture) {
    EXPECT_EQ(fixture.ask(from_kubelet(http::Method::post, nodes, registration)).status, 409);
    registered.clear();
  }
};

// Deletes the Node during an outage in which the kubelet has reported a status.
void delete_offline(
    UplinkFixture& fixture, const std::function<void()>& meanwhile = [] {}) {
  fixture.cut_link();
  const http::Response reported =
      fixture.ask(from_kubelet(http::Method::patch, "/api/v1/nodes/edge1/status", beat));
  EXPECT_EQ(reported.status, 200) << reported.body;
  meanwhile();
  fixture.cloud.remove(nodes, "edge1");
  fixture.cloud.collect_garbage();
  fixture.restore_link();
}

std::string node_records(UplinkFixture& fixture) {
  std::string told;
  const auto rows = sync::wire::parse_json(fixture.admin("/v1/journal?limit=1000")).value();
  for (const auto& row : rows.as_array()) {
    if (row.at("kind") == "node") told += std::string(row.at("what").as_string()) + "\n";
  }
  return told;
}

TEST(DeletedNode, IsRegisteredAgainAsTheKubeletDidLast) {
  UplinkFixture fixture;
  Registry registry;
  registry.serve(fixture);
  prepare(fixture);
  registry.start_kubelet(fixture);
  const std::size_t from = fixture.cloud.asked.size();
  delete_offline(fixture);
  EXPECT_EQ(registry.registered, std::vector<std::string>{registration});
  fixture.time.run(30s);
  EXPECT_EQ(owner_of_lease(fixture), "uid-2");
  EXPECT_EQ(fixture.cloud.count("PATCH /api/v1/nodes/edge1/status", from), 0)
      << "what was reported of the old Node is not sent to the new one";
  EXPECT_EQ(node_records(fixture), "the cloud deleted this node; it was registered again\n");
  EXPECT_NE(fixture.admin("/v1/status").find("it was registered again"), std::string::npos);
  ASSERT_EQ(registry.events.size(), 1U);
  EXPECT_NE(registry.events[0].find(R"("reason":"RegisteredAgain")"), std::string::npos);
  // Everything goes on: the kubelet's next status is the new Node's.
  EXPECT_EQ(fixture.state(), LinkState::connected);
}

TEST(DeletedNode, AnotherNodesRegistrationIsNotIts) {
  UplinkFixture fixture;
  Registry registry;
  registry.serve(fixture);
  prepare(fixture);
  EXPECT_EQ(fixture.ask(from_kubelet(http::Method::post, nodes, registration)).status, 409);
  const std::string other = R"({"kind":"Node","apiVersion":"v1","metadata":{"name":"other"}})";
  for (const std::string& body : {other, std::string("{"), std::string("{}")}) {
    EXPECT_EQ(fixture.ask(from_kubelet(http::Method::post, nodes, body)).status, 409);
  }
  registry.registered.clear();
  delete_offline(fixture);
  EXPECT_EQ(registry.registered, std::vector<std::string>{registration});
}

TEST(DeletedNode, WithoutARegistrationItsLastStateCounts) {
  UplinkFixture fixture;
  Registry registry;
  registry.serve(fixture);
  prepare(fixture);
  delete_offline(fixture);
  ASSERT_EQ(registry.registered.size(), 1U);
  const auto node = sync::wire::parse_json(registry.registered[0]).value();
  EXPECT_EQ(node.at_pointer("/metadata/name"), "edge1");
  EXPECT_EQ(node.at_pointer("/status/phase"), "beating");
  EXPECT_FALSE(node.at("metadata").as_object().contains("uid"));
}

TEST(DeletedNode, ARegistrationThatIsQueuedIsSentOnce) {
  UplinkFixture fixture;
  Registry registry;
  registry.serve(fixture);
  prepare(fixture);
  const std::string newer =
      R"({"kind":"Node","apiVersion":"v1","metadata":{"name":"edge1","labels":{"site":"b"}}})";
  delete_offline(fixture, [&] {
    EXPECT_EQ(fixture.ask(from_kubelet(http::Method::post, nodes, newer)).status, 409);
  });
  fixture.time.run(1min);
  EXPECT_EQ(registry.registered, std::vector<std::string>{newer});
  EXPECT_EQ(owner_of_lease(fixture), "uid-2");
}

TEST(DeletedNode, WhileConnectedIsNotRegistered) {
  UplinkFixture fixture;
  Registry registry;
  registry.serve(fixture);
  prepare(fixture);
  registry.start_kubelet(fixture);
  fixture.cloud.remove(nodes, "edge1");
  EXPECT_EQ(run_with_garbage_collector(fixture, 10min), 1);
  EXPECT_EQ(fixture.state(), LinkState::connected);
  EXPECT_EQ(registry.registered, std::vector<std::string>{});
  EXPECT_EQ(node_records(fixture), "");
  fixture.cut_link();
  fixture.restore_link();
  EXPECT_EQ(registry.registered, std::vector<std::string>{registration}) << "by the next rejoin";
}

TEST(DeletedNode, AFirstStartIsNoDeletion) {
  UplinkFixture fixture;
  fixture.cloud.remove(nodes, "edge1");
  ASSERT_TRUE(fixture.until(LinkState::connected));
  EXPECT_EQ(node_records(fixture), "the API server has no Node of this name\n");
  EXPECT_NE(fixture.admin("/v1/status").find(R"("registered_again":"")"), std::string::npos);
}

TEST(DeletedNode, ARefusalIsToldAndKeepsNothingBack) {
  UplinkFixture fixture;
  Registry registry;
  registry.refuses = 403;
  registry.serve(fixture);
  prepare(fixture);
  delete_offline(fixture);
  EXPECT_EQ(fixture.state(), LinkState::connected);
  EXPECT_TRUE(node_records(fixture).starts_with(
      "the cloud deleted this node, and does not let it register again: "))
      << node_records(fixture);
  EXPECT_EQ(owner_of_lease(fixture), "no lease");
}

}  // namespace
}  // namespace holdfast::agent::uplink::replaced_node
