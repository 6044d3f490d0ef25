// How a node gets its certificate, renews it, and runs without a valid one.

#include <sys/stat.h>

#include <fstream>

#include "test/e2e/secure_bench.h"

namespace holdfast::test {
namespace {

class EdgeBootstrap : public ::testing::Test, public SecureBench {
 protected:
  void SetUp() override { start_tls_server(); }

  [[nodiscard]] std::vector<std::string> by_file(const std::string& token = "boot.token") const {
    return {"--bootstrap-kubeconfig=" + write_kubeconfig("bootstrap", token, server_port)};
  }
  void make_pod(const std::string& name) {
    const Answer pod = as_admin(http::Method::post, "/api/v1/namespaces/ns/pods",
                                R"({"metadata":{"name":")" + name +
                                    R"("},"spec":{"nodeName":"edge-a","containers":)"
                                    R"([{"name":"c","image":"i"}]}})");
    ASSERT_EQ(pod.status, 201) << pod.body;
  }
  std::size_t pods_here() {
    const Answer list = get(agent_port, node_pods + "&resourceVersion=0");
    return list.status == 200 ? list.value().at("items").as_array().size() : 1000;
  }
  void expect_private_files() {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(agent_dir())) {
      struct stat status {};
      ASSERT_EQ(stat(entry.path().c_str(), &status), 0);
      const mode_t wanted = entry.is_directory() ? 0700 : 0600;
      EXPECT_EQ(status.st_mode & 0777, wanted) << entry.path();
    }
  }
  void expect_no_secrets_in_log() {
    const std::string text = log();
    for (const char* secret : {"boot.token", "alice-token", "PRIVATE KEY", "BEGIN"}) {
      EXPECT_EQ(text.find(secret), std::string::npos) << secret;
    }
  }
};

TEST_F(EdgeBootstrap, ANodeGetsItsCertificateAndKeepsItThroughEverything) {
  make_pod("p");
  launch_secure(by_file());
  ASSERT_TRUE(wait_for_link("connected"));
  warm({node_pods, own_node});
  EXPECT_EQ(pods_here(), 1u);
  const std::string first = client_pem();
  EXPECT_EQ(tls::read_certificate(first)->names,
            (tls::Names{.common_name = "system:node:edge-a", .organizations = {"system:nodes"}}));
  // The node has a node's rights, not an administrator's.
  EXPECT_EQ(ask(agent_port, {.method = http::Method::post,
                             .target = "/api/v1/namespaces",
                             .body = R"({"metadata":{"name":"mine"}})"})
                .status,
            403);
  expect_private_files();
  EXPECT_EQ(text_in(admin("/v1/status"), {"certificates_until", "client"}),
            format_rfc3339(tls::read_certificate(first)->not_after));
  EXPECT_NE(
      get(admin_port, "/metrics")
          .body.find(R"(holdfast_edge_certificate_expiration_timestamp_seconds{for="client"} )"),
      std::string::npos);

  // A restart while the cloud is unreachable.
  server->kill();
  launch_secure(by_file());
  ASSERT_TRUE(eventually(20s, [this] { return agent_ready(); }));
  EXPECT_EQ(pods_here(), 1u);
  EXPECT_EQ(client_pem(), first);

  // The server moves to another port. Neither a bootstrap token that has expired nor a missing
  // bootstrap file matters to an agent that has its certificate.
  const std::uint16_t new_port = free_port();
  start_tls_server();
  ASSERT_TRUE(wait_for_link("connected"));
  agent.reset();
  server->kill();
  server = std::make_unique<Process>(
      std::vector<std::string>{
          "holdfast-lab", "apiserver", "--listen=127.0.0.1:" + std::to_string(new_port),
          "--data=" + (dir() / "server").string(), "--tls-dir=" + (dir() / "tls").string(),
          "--token-file=" + (dir() / "tokens").string(), "--controllers=false"},
      (dir() / "server.log").string());
  const std::vector<std::string> moved{"--bootstrap-kubeconfig=" +
                                       write_kubeconfig("bootstrap", "stale-token", new_port)};
  launch_secure(moved);
  ASSERT_TRUE(wait_for_link("connected"));
  EXPECT_EQ(client_pem(), first);
  std::filesystem::remove(dir() / "bootstrap.kubeconfig");
  launch_secure(moved);
  ASSERT_TRUE(wait_for_link("connected")) << "the agent has stored the cluster's address";
  EXPECT_EQ(client_pem(), first);
  expect_private_files();
  expect_no_secrets_in_log();
}

TEST_F(EdgeBootstrap, AShortLifeIsRenewedInTimeAndAnExpiredOneStillServesOffline) {
  server->kill();
  start_tls_server({"--certificate-lifetime=8s"});
  make_pod("p");
  launch_secure(by_file());
  ASSERT_TRUE(wait_for_link("connected"));
  warm({node_pods});
  const std::string first = client_pem();
  ASSERT_TRUE(eventually(15s, [this, &first] { return client_pem() != first; })) << "renewed";
  EXPECT_EQ(admin("/v1/link").as_object().at("state").as_string(), "connected");
  make_pod("q");
  ASSERT_TRUE(eventually(10s, [this] { return pods_here() == 2; }))
      << "the renewal interrupted no watch";

  server->kill();
  const std::string last = client_pem();
  const WallTime ends = tls::read_certificate(last)->not_after;
  ASSERT_TRUE(eventually(15s, [ends] { return SystemClock().wall() > ends; }));
  EXPECT_EQ(pods_here(), 2u);
  launch_secure(by_file());
  ASSERT_TRUE(eventually(20s, [this] { return agent_ready(); }));
  EXPECT_EQ(pods_here(), 2u) << "an expired certificate must not prevent reads from the cache";
  EXPECT_EQ(client_pem(), last) << "the expired certificate is kept";

  start_tls_server();
  ASSERT_TRUE(wait_for_link("connected", 90s)) << "it gets a new one with the bootstrap token";
  EXPECT_NE(client_pem(), last);
  expect_no_secrets_in_log();
}

TEST_F(EdgeBootstrap, WithoutACertificateTheAgentServesAndWaits) {
  launch_secure(by_file("wrong-token"));
  ASSERT_TRUE(eventually(20s, [this] { return get(admin_port, "/healthz").status == 200; }));
  const Answer refused = get(agent_port, node_pods);
  EXPECT_EQ(refused.status, 503) << refused.body;
  ASSERT_TRUE(eventually(20s, [this] { return log().find("no new certificate") != log().npos; }));
  EXPECT_EQ(get(admin_port, "/v1/link").text({"state"}), "offline");
  // The agent reads the bootstrap file again at every attempt.
  (void)write_kubeconfig("bootstrap", "boot.token", server_port);
  ASSERT_TRUE(wait_for_link("connected", 60s));
}

TEST_F(EdgeBootstrap, AJoinTokenAndAPinnedAuthorityAreEnough) {
  const std::string address = "--server=https://127.0.0.1:" + std::to_string(server_port);
  launch_secure({"--join-token=boot.token", address,
                 "--discovery-token-ca-cert-hash=sha256:" + std::string(64, '0')});
  ASSERT_TRUE(eventually(
      20s, [this] { return log().find("not the one that was pinned") != std::string::npos; }));
  EXPECT_EQ(client_pem(), "");
  launch_secure(
      {"--join-token=boot.token", address, "--discovery-token-ca-cert-hash=" + ca_hash()});
  ASSERT_TRUE(wait_for_link("connected", 60s));
  EXPECT_TRUE(std::filesystem::exists(agent_dir() / "pki/ca.crt"));
  server->kill();
  launch_secure(
      {"--join-token=boot.token", address, "--discovery-token-ca-cert-hash=" + ca_hash()});
  ASSERT_TRUE(eventually(20s, [this] { return get(admin_port, "/healthz").status == 200; }));
  start_tls_server();
  ASSERT_TRUE(wait_for_link("connected"));
  expect_private_files();
  expect_no_secrets_in_log();
}

}  // namespace
}  // namespace holdfast::test
