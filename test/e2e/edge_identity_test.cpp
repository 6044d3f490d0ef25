// Which requests the agent accepts from the node's identity, from callers with their own
// credentials, and from anonymous callers.

#include <fstream>

#include "test/e2e/edge_bench.h"

namespace holdfast::test {
namespace {

using http::Method;

const std::string configmaps = "/api/v1/namespaces/ns/configmaps?resourceVersion=0";
const std::string listed = "/api/v1/services?resourceVersion=0";  // which a node may list

class EdgeIdentity : public ::testing::Test, public EdgeBench {
 protected:
  void SetUp() override {
    std::ofstream(dir() / "tokens") << "node-token,system:node:edge-a,1,\"system:nodes\"\n"
                                       "alice-token,alice,2,\"system:masters\"\n"
                                       "bob-token,bob,3,\"system:masters\"\n";
    start_server();
    by(server_port, "alice-token", Method::post, "/api/v1/namespaces",
       R"({"metadata":{"name":"ns"}})", 201);
    by(server_port, "alice-token", Method::post, "/api/v1/namespaces/ns/configmaps",
       R"({"metadata":{"name":"c"}})", 201);
    by(server_port, "alice-token", Method::post, "/api/v1/namespaces/ns/serviceaccounts",
       R"({"metadata":{"name":"sa"}})", 201);
    const Answer pod =
        by(server_port, "alice-token", Method::post, "/api/v1/namespaces/ns/pods",
           R"({"metadata":{"name":"p"},"spec":{"nodeName":"edge-a","serviceAccountName":"sa",)"
           R"("containers":[{"name":"c","image":"i"}]}})",
           201);
    pod_uid_ = pod.text({"metadata", "uid"});
  }

  Answer by(std::uint16_t port, const std::string& bearer, Method method, const std::string& target,
            const std::string& body, int status) {
    Answer answer = ask(port, {.method = method, .target = target, .body = body, .bearer = bearer});
    EXPECT_EQ(answer.status, status) << bearer << " " << target << " " << answer.body;
    return answer;
  }
  Answer read(const std::string& bearer, const std::string& target, int status) {
    return by(agent_port, bearer, Method::get, target, "", status);
  }
  void cut() {
    server->kill();
    ASSERT_TRUE(wait_for_link("offline"));
  }

  std::string pod_uid_;
};

TEST_F(EdgeIdentity, AUidThatIsNotAllowedNeedsCredentials) {
  launch_agent();
  ASSERT_TRUE(wait_for_link("connected"));
  EXPECT_EQ(get(agent_port, "/api/v1/services").status, 200);
  agent.reset();
  std::vector<std::string> argv = agent_argv({});
  for (std::string& flag : argv) {
    if (flag.starts_with("--allowed-uids")) flag = "--allowed-uids=54321";
  }
  agent = std::make_unique<Process>(argv, (dir() / "agent.log").string());
  const auto is_connected = [this] {
    const std::string metrics = get(admin_port, "/metrics").body;
    return metrics.find("link_state{state=\"connected\"} 1") != std::string::npos;
  };
  ASSERT_TRUE(eventually(10s, is_connected));
  EXPECT_EQ(get(admin_port, "/v1/link").status, 401) << "this uid may not read the state either";
  const Answer refused = read("", "/api/v1/services", 401);
  EXPECT_EQ(refused.text({"reason"}), "Unauthorized");
  EXPECT_NE(refused.body.find("is not allowed"), std::string::npos) << refused.body;
  by(agent_port, "", Method::post, "/api/v1/namespaces/ns/events", "{}", 401);
  read("alice-token", "/api/v1/services", 200);
}

TEST_F(EdgeIdentity, CredentialsAreKeptUpstreamAndRowsAreTheirOwners) {
  start_agent();
  ASSERT_TRUE(wait_for_link("connected"));
  read("wrong-token", "/api/v1/namespaces/ns/configmaps", 401);
  read("wrong-token", configmaps, 401);
  const json::value kept = admin("/v1/scopes");
  for (const json::value& scope : kept.as_array()) {
    EXPECT_EQ(text_in(scope, {"owner"}), "node") << "the agent stores nothing for an invalid token";
  }
  read("alice-token", configmaps, 200);
  read("alice-token", configmaps, 200);  // from the cache, as soon as it is complete
  read("", listed, 200);
  const std::string review = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
  const Answer who = ask(agent_port, {.method = Method::post,
                                      .target = review,
                                      .body = R"({"kind":"SelfSubjectReview",)"
                                              R"("apiVersion":"authentication.k8s.io/v1"})",
                                      .bearer = "alice-token"});
  if (who.status / 100 == 2) {
    EXPECT_EQ(who.text({"status", "userInfo", "username"}), "alice");
  }
  cut();
  const Answer mine = read("alice-token", configmaps, 200);
  EXPECT_EQ(mine.value().at("items").as_array().size(), 1u);
  read("alice-token", "/api/v1/namespaces/ns/configmaps/c", 200);
  read("bob-token", configmaps, 503);
  read("wrong-token", configmaps, 503);
  read("", configmaps, 503);
  read("", "/api/v1/namespaces/ns/configmaps/c", 503);
  read("", listed, 200);
  read("alice-token", listed, 503);
  // Offline, nobody can verify the token, so the agent accepts no writes with it.
  const std::string event =
      R"({"metadata":{"name":"e"},"involvedObject":{"namespace":"ns","name":"p"}})";
  by(agent_port, "wrong-token", Method::post, "/api/v1/namespaces/ns/events", event, 503);
  by(agent_port, "", Method::post, "/api/v1/namespaces/ns/events", event, 201);

  // Alice's credentials are not stored. After a restart her rows are there but are not refreshed
  // until she calls again, and the agent reconnects without waiting for her.
  agent->kill();
  launch_agent();
  ASSERT_TRUE(eventually(20s, [this] { return agent_ready(); }));
  read("alice-token", configmaps, 200);
  start_server();
  ASSERT_TRUE(wait_for_link("connected"));
  by(server_port, "alice-token", Method::get, "/api/v1/namespaces/ns/events/e", "", 200);
}

TEST_F(EdgeIdentity, ATokenIsAnsweredFromTheStoreToItsOwnerOnly) {
  start_agent();
  ASSERT_TRUE(wait_for_link("connected"));
  const std::string target = "/api/v1/namespaces/ns/serviceaccounts/sa/token";
  const std::string body = R"({"kind":"TokenRequest","apiVersion":"authentication.k8s.io/v1",)"
                           R"("spec":{"audiences":["a"],"expirationSeconds":3600,)"
                           R"("boundObjectRef":{"kind":"Pod","apiVersion":"v1","name":"p",)"
                           R"("uid":")" +
                           pod_uid_ + R"("}}})";
  const Answer online = by(agent_port, "", Method::post, target, body, 201);
  EXPECT_FALSE(online.text({"status", "token"}).empty()) << online.body;
  cut();
  const Answer offline = by(agent_port, "", Method::post, target, body, 201);
  EXPECT_EQ(offline.body, online.body);
  by(agent_port, "alice-token", Method::post, target, body, 503);
  std::string other = body;
  other.replace(other.find("\"a\""), 3, "\"b\"");
  by(agent_port, "", Method::post, target, other, 503);
  agent->kill();
  launch_agent();
  ASSERT_TRUE(eventually(20s, [this] { return get(admin_port, "/healthz").status == 200; }));
  EXPECT_EQ(by(agent_port, "", Method::post, target, body, 201).body, online.body);
}

}  // namespace
}  // namespace holdfast::test
