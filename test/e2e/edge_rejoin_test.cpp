// What happens to writes that were accepted while offline when the cloud's objects have changed in
// the meantime.

#include "test/e2e/edge_bench.h"

namespace holdfast::test {
namespace {

using http::Method;

class EdgeRejoin : public ::testing::Test, public EdgeBench {
 protected:
  void SetUp() override {
    start_server();
    make_node();
    for (const char* name : {"p1", "p2", "p3"}) make_pod(name);
    start_agent();
    ASSERT_TRUE(wait_for_link("connected"));
    warm({node_pods, own_node});
  }
  // Kills the server, so that the agent sees nothing of what happens there until it reconnects.
  void cut() {
    server->kill();
    ASSERT_TRUE(wait_for_link("offline"));
  }
  Answer patch(const std::string& name, const std::string& text) {
    return ask(
        agent_port,
        {.method = Method::patch, .target = pod_path(name) + "/status", .body = phase(text)});
  }
  static Ask removal_of(const std::string& name) {
    return {
        .method = Method::remove, .target = pod_path(name), .body = R"({"gracePeriodSeconds":0})"};
  }
};

TEST_F(EdgeRejoin, ConflictsAreReportedAndTheRestArrives) {
  cut();
  ASSERT_EQ(patch("p1", "Mine").status, 200);
  ASSERT_EQ(patch("p2", "Mine").status, 200);
  ASSERT_EQ(ask(agent_port, removal_of("p3")).status, 200);
  ASSERT_EQ(
      ask(agent_port,
          {.method = Method::patch, .target = nodes + "/edge-a/status", .body = kernel("Ours")})
          .status,
      200);
  // Changes in the cloud, made while the agent is down, so that it cannot observe them.
  agent->kill();
  start_server();
  ASSERT_EQ(ask_server(removal_of("p1")).status, 200);
  make_pod("p1");
  ASSERT_EQ(ask_server(removal_of("p3")).status, 200);
  make_pod("p3");
  start_agent();
  ASSERT_TRUE(wait_for_link("connected"));

  EXPECT_NE(get_on_server(pod_path("p1")).text({"status", "phase"}), "Mine")
      << "a new pod with that name";
  EXPECT_EQ(get_on_server(pod_path("p2")).text({"status", "phase"}), "Mine");
  EXPECT_EQ(get_on_server(pod_path("p3")).status, 200) << "a new pod with that name";
  EXPECT_EQ(kernel_of(get_on_server(nodes + "/edge-a")), "Ours");
  EXPECT_EQ(journal("write-conflict"), (std::vector<std::string>{"pods/ns/p1", "pods/ns/p3"}));
  const json::value rows = admin("/v1/journal");
  bool both_sides = false;
  for (const json::value& row : rows.as_array()) {
    if (row.at("kind").as_string() != "write-conflict") continue;
    both_sides = row.at("detail").is_object() && row.at("detail").as_object().contains("sent") &&
                 row.at("detail").as_object().contains("answered");
    EXPECT_TRUE(both_sides) << sync::wire::serialize(row);
  }
  EXPECT_TRUE(both_sides);
  // The cache contains the cloud's status, not the conflicting local one.
  EXPECT_EQ(get(agent_port, node_pods + "&resourceVersion=0").body.find("Mine\",\"x"),
            std::string::npos);
  EXPECT_EQ(get(agent_port, pod_path("p1")).body, get_on_server(pod_path("p1")).body);
}

TEST_F(EdgeRejoin, AMirrorPodMadeHereLivesOnInTheCloud) {
  const std::string node_uid = get_on_server(nodes + "/edge-a").text({"metadata", "uid"});
  cut();
  const std::string mirror =
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"m","annotations":)"
      R"({"kubernetes.io/config.mirror":"x"},"ownerReferences":[{"apiVersion":"v1","kind":"Node",)"
      R"("name":"edge-a","controller":true,"uid":")" +
      node_uid + R"("}]},"spec":{"nodeName":"edge-a","containers":[{"name":"c","image":"i"}]}})";
  const Ask post{.method = Method::post, .target = "/api/v1/namespaces/ns/pods", .body = mirror};
  ASSERT_EQ(ask(agent_port, post).status, 201);
  EXPECT_EQ(ask(agent_port, post).status, 409);
  ASSERT_EQ(patch("m", "Running").status, 200);
  agent->kill();
  launch_agent();
  ASSERT_TRUE(eventually(10s, [this] { return agent_ready(); }));
  EXPECT_EQ(get(agent_port, pod_path("m")).text({"status", "phase"}), "Running");
  start_server();
  ASSERT_TRUE(wait_for_link("connected"));
  const Answer there = get_on_server(pod_path("m"));
  EXPECT_EQ(there.text({"status", "phase"}), "Running") << there.body;
  EXPECT_EQ(journal("write-conflict"), std::vector<std::string>{});
}

TEST_F(EdgeRejoin, WhatTheCloudRefusesToListDoesNotKeepTheRestAway) {
  // For an unknown resource a node gets 403; callers with more rights get 404.
  const auto list = [this](const std::string& token, const std::string& target) {
    return ask(agent_port, {.target = target, .bearer = token}).status;
  };
  const std::pair<std::string, int> callers[] = {{"", 403}, {admin_token, 404}};
  for (const auto& [token, status] : callers) {
    EXPECT_EQ(list(token, "/api/v1/unicorns"), status);
    EXPECT_EQ(list(token, "/api/v1/unicorns?resourceVersion=0"), status);
  }
  cut();
  for (const auto& [token, status] : callers) EXPECT_EQ(list(token, "/api/v1/dragons"), 503);
  start_server();
  ASSERT_TRUE(wait_for_link("connected"));
  for (const auto& [token, status] : callers) {
    EXPECT_EQ(list(token, "/api/v1/dragons?resourceVersion=0"), status);
  }
}

TEST_F(EdgeRejoin, AMomentarySilenceLosesNothing) {
  // The link is suspect while a write is accepted, and then connected again without having been
  // offline.
  for (int round = 0; round < 3; ++round) {
    const std::string text = "Round" + std::to_string(round);
    server->signal(SIGSTOP);
    EXPECT_EQ(patch("p1", text).status, 200);
    server->signal(SIGCONT);
    ASSERT_TRUE(wait_for_link("connected"));
    EXPECT_TRUE(eventually(10s, [this, text] {
      return get_on_server(pod_path("p1")).text({"status", "phase"}) == text;
    })) << "the write reached the cloud";
    // Changes in the cloud still arrive.
    const std::string answer = "Cloud" + std::to_string(round);
    ask_server(
        {.method = Method::patch, .target = pod_path("p1") + "/status", .body = phase(answer)});
    EXPECT_TRUE(eventually(10s, [this, answer] {
      return get(agent_port, pod_path("p1") + "?resourceVersion=0").text({"status", "phase"}) ==
             answer;
    })) << "the cache still follows the cloud";
  }
}

}  // namespace
}  // namespace holdfast::test
