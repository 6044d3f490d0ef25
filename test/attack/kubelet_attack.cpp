// Attacks on the kubelet's API of holdfast-node, and through the API server: strangers, crowds,
// frames without an end, and callers that do not read.

#include "test/attack/attack_fixture.h"
#include "test/attack/tls.h"

namespace holdfast::attack {
namespace {

constexpr long node_budget = 64L * 1024;
constexpr long lab_budget = 128L * 1024;
const std::string pods_path = "/api/v1/namespaces/ns/pods";

class Kubelet : public Attack {
 protected:
  void start_node() {
    ASSERT_NO_FATAL_FAILURE(start_lab());
    write_file(file("node.kubeconfig"),
               "apiVersion: v1\nkind: Config\ncurrent-context: up\nclusters:\n- name: up\n"
               "  cluster: {server: \"http://127.0.0.1:" +
                   std::to_string(lab_port) +
                   "\"}\nusers:\n- name: up\n  user: {token: node-token}\n"
                   "contexts:\n- name: up\n  context: {cluster: up, user: up}\n");
    node_ = std::make_unique<Program>(
        Launch{.argv = {"holdfast-node", "--node-name=edge-a",
                        "--kubeconfig=" + file("node.kubeconfig"), "--data-dir=" + file("node"),
                        "--kubelet-listen=127.0.0.1:" + std::to_string(kubelet_port_),
                        "--client-ca-file=" + file("lab") + "/kubelet/ca.crt"},
               .log = file("node.log")});
    const std::string pod = R"({"metadata":{"name":"t"},"spec":{"nodeName":"edge-a","containers":[)"
                            R"({"name":"c","image":"i","command":["sh","-c","echo )" +
                            treasure_decoded +
                            R"(; sleep 1000"]}],"terminationGracePeriodSeconds":1}})";
    ASSERT_EQ(as_admin("POST", pods_path, pod).status, 201);
    ASSERT_TRUE(eventually(20s, [this] { return log_is_served(); })) << read_file(file("node.log"));
  }
  void TearDown() override {
    if (node_) {
      note_peak("holdfast-node", node_->peak());
      // The node deletes the Pod when its container has ended.
      (void)as_admin("DELETE", pods_path + "/t");
      EXPECT_TRUE(
          eventually(20s, [this] { return as_admin("GET", pods_path + "/t").status == 404; }))
          << "a container is left running: " << read_file(file("node.log"));
    }
    node_.reset();
    Attack::TearDown();
  }
  [[nodiscard]] bool log_is_served() const {
    return as_admin("GET", pods_path + "/t/log").has(treasure_decoded);
  }
  // A WebSocket for a command in the pod, through the API server; what came after the head is in
  // `first`.
  [[nodiscard]] Socket exec(const std::string& query, std::string& first) const {
    Socket socket = connect_to(lab_port);
    const Ask question{
        .target = pods_path + "/t/exec?" + query,
        .bearer = "admin-token",
        .headers = {"Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
                    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
                    "Sec-WebSocket-Protocol: v5.channel.k8s.io"}};
    (void)socket.send(text_of(question, lab_port));
    first = socket.receive();
    return socket;
  }

  const std::uint16_t kubelet_port_ = free_port();
  std::unique_ptr<Program> node_;
};

TEST_F(Kubelet, AStrangerGetsNothingFromTheNode) {
  ASSERT_NO_FATAL_FAILURE(start_node());
  for (const std::string& target :
       {std::string("/containerLogs/ns/t/c"), std::string("/exec/ns/t/c?command=id&output=1"),
        std::string("/portForward/ns/t"), std::string("/pods"), std::string("/healthz")}) {
    for (const std::string token : {"", "invented", "node-token", "admin-token"}) {
      const Answer answer = ask_over_tls(kubelet_port_, {.target = target, .bearer = token});
      EXPECT_EQ(answer.status, 0) << target << " with the token \"" << token << "\"";
      EXPECT_FALSE(answer.has(treasure_decoded));
    }
    EXPECT_EQ(ask(kubelet_port_, {.target = target}).status, 0) << target << " without TLS";
  }
  EXPECT_TRUE(log_is_served());
}

TEST_F(Kubelet, ReadersMayNotRunCommands) {
  ASSERT_NO_FATAL_FAILURE(start_node());
  const std::vector<std::string> upgrade = {
      "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
      "Sec-WebSocket-Protocol: v5.channel.k8s.io, SPDY/3.1+portforward.k8s.io"};
  for (const std::string token : {"", "invented", "alice-token", "node-token"}) {
    for (const std::string method : {"GET", "POST"}) {
      for (const std::string what : {"/log", "/exec?command=id&stdout=1", "/portforward"}) {
        const Answer answer = ask(lab_port, {.target = pods_path + "/t" + what,
                                             .method = method,
                                             .bearer = token,
                                             .headers = upgrade});
        EXPECT_TRUE(answer.refused() || answer.status == 405)
            << method << what << " with the token \"" << token << "\": " << answer.status;
        EXPECT_FALSE(answer.has(treasure_decoded));
      }
    }
  }
}

TEST_F(Kubelet, ACrowdOfStrangersCostsLittle) {
  ASSERT_NO_FATAL_FAILURE(start_node());
  const std::string seen = run_as_nobody([this] {
    std::vector<Socket> idle;
    for (int i = 0; i < 1000; ++i) idle.push_back(connect_to(kubelet_port_, "127.0.0.1", 1s));
    for (const Socket& socket : idle) (void)socket.send(std::string(5, '\x16'), 100ms);
    return std::string("done");
  });
  EXPECT_EQ(seen, "done");
  EXPECT_TRUE(log_is_served()) << "the API server still gets in";
  expect_within(*node_, "holdfast-node", node_budget, "a crowd");
}

TEST_F(Kubelet, FramesWithoutAnEndEndTheSession) {
  ASSERT_NO_FATAL_FAILURE(start_node());
  using namespace std::string_literals;
  const std::pair<const char*, std::string> attacks[] = {
      {"an endless length", "\x82\xff\x7f\xff\xff\xff\xff\xff\xff\xff"s + "mask"},
      {"a length over the limit", "\x82\xff\0\0\0\0\x10\0\0\0"s + "mask"},
      {"no mask", "\x82\x05hello"s},
      {"an unknown channel", "\x82\x82\0\0\0\0\x63x"s},
      {"a reserved bit", "\xc2\x80\0\0\0\0"s},
  };
  for (const auto& [what, bytes] : attacks) {
    std::string first;
    const Socket socket = exec("command=cat&stdin=1&stdout=1", first);
    ASSERT_TRUE(first.starts_with("HTTP/1.1 101")) << what << ": " << first;
    (void)socket.send(bytes + std::string(1UL << 20, 'x'), 1s);
    bool ended = false;
    for (int i = 0; i < 20 && !ended; ++i) ended = socket.receive(500ms).empty();
    EXPECT_TRUE(ended) << what;
  }
  EXPECT_TRUE(log_is_served());
  expect_within(*node_, "holdfast-node", node_budget, "frames");
}

TEST_F(Kubelet, CallersThatDoNotReadCostLittle) {
  ASSERT_NO_FATAL_FAILURE(start_node());
  std::vector<Socket> deaf;
  for (int i = 0; i < 20; ++i) {
    std::string first;
    deaf.push_back(exec("command=cat&command=/dev/zero&stdout=1", first));
    EXPECT_TRUE(first.starts_with("HTTP/1.1 101")) << i << ": " << first;
  }
  // Time to fill everything that would grow.
  (void)eventually(3s, [] { return false; });
  EXPECT_TRUE(log_is_served());
  expect_within(*node_, "holdfast-node", node_budget, "callers that do not read");
  expect_within(*lab, "holdfast-lab", lab_budget, "callers that do not read");
}

TEST_F(Kubelet, SessionsOfANodeAreLimited) {
  ASSERT_NO_FATAL_FAILURE(start_node());
  std::vector<Socket> open;
  for (int i = 0; i < 40; ++i) {
    std::string answer;
    open.push_back(exec("command=cat&stdin=1&stdout=1", answer));
    EXPECT_TRUE(answer.starts_with(i < 32 ? "HTTP/1.1 101" : "HTTP/1.1 429")) << i << answer;
  }
  open.clear();
  EXPECT_TRUE(eventually(10s, [this] { return log_is_served(); })) << "places become free again";
}

}  // namespace
}  // namespace holdfast::attack
