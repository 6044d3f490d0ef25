// holdfast-node as a process behind holdfast-edge: its pods survive restarts of both and the loss
// of the cloud, and invalid settings are reported by name.

#include <sys/wait.h>

#include "agent/node/process/attempt_files.h"
#include "platform/fs/file.h"
#include "platform/proc/notify.h"
#include "platform/proc/process.h"
#include "platform/text.h"
#include "test/e2e/edge_bench.h"

namespace holdfast::test {
namespace {

class EdgeNode : public ::testing::Test, public EdgeBench {
 protected:
  ~EdgeNode() override {
    node.reset();
    for (int attempt = 0; attempt < 9; ++attempt) {
      if (const auto run = run_of(attempt)) (void)proc::signal_group(run->process, SIGKILL);
    }
    if (HasFailure()) print_end(dir() / "node.log");
  }

  [[nodiscard]] std::filesystem::path node_dir() const { return dir() / "node"; }
  void start_node(const std::vector<std::string>& more = {}) {
    node.reset();
    std::vector<std::string> argv{"holdfast-node",
                                  "--node-name=edge-a",
                                  "--server=http://127.0.0.1:" + std::to_string(agent_port),
                                  "--data-dir=" + node_dir().string(),
                                  "--status-interval=1s",
                                  "--lease-renew-interval=1s"};
    argv.insert(argv.end(), more.begin(), more.end());
    node = std::make_unique<Process>(argv, (dir() / "node.log").string());
  }
  // Creates a pod on the node with one container that sleeps.
  void make_sleeper() { make_pod_of(R"(["sleep","1000"])"); }
  // Creates a pod on the node with one container that runs this command, a JSON array.
  void make_pod_of(const std::string& command) {
    const Answer pod =
        ask_server({.method = http::Method::post,
                    .target = "/api/v1/namespaces/ns/pods",
                    .body = R"({"metadata":{"name":"p"},"spec":{"nodeName":"edge-a","containers":)"
                            R"([{"name":"c","image":"i","command":)" +
                            command + "}]}}"});
    ASSERT_EQ(pod.status, 201) << pod.body;
    uid = pod.text({"metadata", "uid"});
  }
  [[nodiscard]] std::optional<agent::node::RunRecord> run_of(int attempt) const {
    auto run = agent::node::read_run(node_dir() / "pods" / uid / "c" / std::to_string(attempt));
    if (!run) return std::nullopt;
    return *std::move(run);
  }
  [[nodiscard]] bool is_alive(int attempt) const {
    const auto run = run_of(attempt);
    return run && proc::is_alive(run->process);
  }

  std::unique_ptr<Process> node;
  std::string uid;
};

TEST_F(EdgeNode, PodsOutliveBothAgentsAndTheCloud) {
  start_server();
  make_node();
  start_agent();
  ASSERT_TRUE(wait_for_link("connected"));
  start_node();
  make_sleeper();
  ASSERT_TRUE(eventually(20s, [this] {
    return get_on_server(pod_path("p")).text({"status", "phase"}) == "Running";
  }));
  ASSERT_TRUE(is_alive(0));
  const auto before = *run_of(0);

  server->kill();
  node->kill();
  agent->kill();
  launch_agent();
  start_node();
  ASSERT_TRUE(eventually(20s, [this] { return get(agent_port, node_pods).status == 200; }));
  EXPECT_TRUE(is_alive(0));
  EXPECT_EQ(*run_of(0), before) << "the container is adopted, not restarted";

  // While offline, a container that dies is restarted from the cached pod.
  ASSERT_TRUE(proc::signal_group(before.process, SIGKILL));
  EXPECT_TRUE(eventually(20s, [this] { return is_alive(1); }));

  node->signal(SIGTERM);
  const auto status = node->wait(10s);
  ASSERT_TRUE(status);
  EXPECT_TRUE(WIFEXITED(*status) && WEXITSTATUS(*status) == 0) << *status;
  EXPECT_TRUE(is_alive(1)) << "containers outlive the node agent";
}

// A secret file takes the place of the uid of the process.
TEST_F(EdgeNode, WithANodeTokenOnlyItsHoldersActAsTheNode) {
  start_server();
  make_node();
  const std::string token_file = (dir() / "node.token").string();
  start_agent({"--node-token-file=" + token_file, "--require-node-token"});
  const std::string token(trim(fs::read_all(token_file, 1 << 10).value_or("")));
  ASSERT_FALSE(token.empty());
  ASSERT_TRUE(eventually(60s, [this, &token] {
    return ask(admin_port, {.target = "/v1/link", .bearer = token}).text({"state"}) == "connected";
  }));
  EXPECT_EQ(get(agent_port, own_node).status, 401) << "root, but without the token";
  EXPECT_EQ(get(admin_port, "/v1/link").status, 401);
  EXPECT_EQ(ask(agent_port, {.target = own_node, .bearer = token}).status, 200);
  EXPECT_NE(ask(agent_port, {.target = own_node, .bearer = token + "x"}).status, 200);
  const std::string config = (dir() / "node.kubeconfig").string();
  ASSERT_TRUE(fs::atomic_write(
      config,
      "apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters:\n- name: c\n  cluster:\n"
      "    server: http://127.0.0.1:" +
          std::to_string(agent_port) + "\nusers:\n- name: c\n  user:\n    tokenFile: " +
          token_file + "\ncontexts:\n- name: c\n  context: {cluster: c, user: c}\n"));
  node = std::make_unique<Process>(
      std::vector<std::string>{"holdfast-node", "--node-name=edge-a", "--kubeconfig=" + config,
                               "--data-dir=" + node_dir().string(), "--status-interval=1s",
                               "--lease-renew-interval=1s"},
      (dir() / "node.log").string());
  make_sleeper();
  EXPECT_TRUE(eventually(20s, [this] {
    return get_on_server(pod_path("p")).text({"status", "phase"}) == "Running";
  }));
}

// The API server permits everything, so the agent's own identity may forward ports, too.
TEST_F(EdgeNode, KubectlForwardsPortsThroughTheAgentAsDirectly) {
  secured = false;
  start_server();
  make_node();
  start_agent({"--secure-listen="});  // a fixed port would prevent tests in parallel
  ASSERT_TRUE(wait_for_link("connected"));
  start_node({"--client-ca-file=" + (dir() / "server" / "kubelet" / "ca.crt").string(),
              "--kubelet-listen=127.0.0.1:0"});
  const std::uint16_t web_port = free_port();
  const std::string inside = std::to_string(web_port);
  make_pod_of(R"([")" HOLDFAST_BIN_DIR R"(/holdfast-lab","apiserver","--listen=127.0.0.1:)" +
              inside + R"(","--data=)" + (dir() / "web").string() + R"("])");
  ASSERT_TRUE(eventually(30s, [this] {
    const std::string port = get_on_server("/api/v1/nodes/edge-a")
                                 .text({"status", "daemonEndpoints", "kubeletEndpoint", "Port"});
    return !port.empty() && port != "0" &&
           get_on_server(pod_path("p")).text({"status", "phase"}) == "Running";
  }));
  ASSERT_TRUE(eventually(30s, [web_port] { return get(web_port, "/readyz").body == "ok"; }));
  for (const std::uint16_t through : {server_port, agent_port}) {
    const std::string config = (dir() / ("through." + std::to_string(through))).string();
    ASSERT_TRUE(fs::atomic_write(config, kubeconfig_for(through, "forward")));
    for (const std::string way : {"true", "false"}) {
      SCOPED_TRACE((through == agent_port ? "through the agent " : "directly ") + way);
      const std::uint16_t local = free_port();
      const Process forward(
          {"/usr/bin/env", "PATH=" + *proc::system_environment("PATH"), "HOME=" + dir().string(),
           "KUBECTL_PORT_FORWARD_WEBSOCKETS=" + way, "kubectl", "--kubeconfig=" + config,
           "--namespace=ns", "port-forward", "pod/p", std::to_string(local) + ":" + inside},
          (dir() / "forward.log").string());
      EXPECT_TRUE(eventually(30s, [local] { return get(local, "/readyz").body == "ok"; }))
          << fs::read_all(dir() / "forward.log", 1UL << 20).value_or("");
      for (int i = 0; i < 5; ++i) {
        EXPECT_GT(get(local, "/openapi/v2").body.size(), 100'000U);
      }
    }
  }
}

TEST_F(EdgeNode, BadSettingsAreNamed) {
  const std::string name = "--node-name=a";
  const std::string data = "--data-dir=" + node_dir().string();
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {{data}, "--node-name"},
      {{name, data, "--server=nonsense"}, "--server"},
      {{name, data, "--kubeconfig=/nowhere/k"}, "/nowhere/k"},
      {{name, data, "--runtime=docker"}, "--runtime"},
      {{name, data, "--node-labels=x"}, "--node-labels"},
      {{name, "--data-dir=/proc/nowhere"}, "--data-dir"},
      {{name, data, "--log-level=loud"}, "loud"},
      {{name, data, "--no-such-flag"}, "no-such-flag"},
  };
  for (auto [flags, part] : cases) {
    flags.insert(flags.begin(), "holdfast-node");
    const std::string log = (dir() / "other.log").string();
    std::filesystem::remove(log);
    Process other(std::move(flags), log);
    const auto status = other.wait(10s);
    const std::string said = fs::read_all(log, 1 << 20).value_or("");
    ASSERT_TRUE(status && WIFEXITED(*status)) << part << " was accepted";
    EXPECT_EQ(WEXITSTATUS(*status), 2) << said;
    EXPECT_NE(said.find(part), std::string::npos) << said;
  }
}

TEST_F(EdgeNode, ASecondOneOnTheSameDataIsRefused) {
  start_node();
  ASSERT_TRUE(eventually(10s, [this] { return std::filesystem::exists(node_dir() / "pods"); }));
  const std::string log = (dir() / "other.log").string();
  Process other({"holdfast-node", "--node-name=a", "--data-dir=" + node_dir().string()}, log);
  const auto status = other.wait(10s);
  ASSERT_TRUE(status && WIFEXITED(*status));
  EXPECT_EQ(WEXITSTATUS(*status), 2);
  const std::string said = fs::read_all(log, 1 << 20).value_or("");
  EXPECT_NE(said.find("--data-dir"), std::string::npos) << said;
}

}  // namespace
}  // namespace holdfast::test
