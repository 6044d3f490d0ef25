// Callers with certificates and tokens: their identity upstream and the rows that they may read;
// and Secrets, which are encrypted on the disk.

#include <sys/wait.h>

#include <fstream>

#include "platform/fs/file.h"
#include "platform/text.h"
#include "test/e2e/secure_bench.h"

namespace holdfast::test {
namespace {

using http::Method;

const std::string review = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
const std::string review_body =
    R"({"kind":"SelfSubjectReview","apiVersion":"authentication.k8s.io/v1"})";
const std::string secret_s = "/api/v1/namespaces/ns/secrets?fieldSelector=metadata.name%3Ds";
const std::string map_c = "/api/v1/namespaces/ns/configmaps?fieldSelector=metadata.name%3Dc";

class EdgeSecure : public ::testing::Test, public SecureBench {
 protected:
  void SetUp() override {
    start_tls_server();
    bootstrap_ = "--bootstrap-kubeconfig=" + write_kubeconfig("boot", "boot.token", server_port);
  }
  void start(const std::vector<std::string>& more = {}) {
    std::vector<std::string> flags{bootstrap_};
    flags.insert(flags.end(), more.begin(), more.end());
    launch_secure(flags);
  }
  std::string who(const Answer& answer) {
    return answer.status == 201 ? answer.text({"status", "userInfo", "username"}) : answer.body;
  }
  int run_ctl(const std::vector<std::string>& words) {
    std::vector<std::string> argv{"holdfastctl", "--data-dir=" + agent_dir().string()};
    argv.insert(argv.end(), words.begin(), words.end());
    (void)fs::remove_tree(dir() / "ctl.log");
    Process ctl(argv, (dir() / "ctl.log").string());
    const int status = ctl.wait(20s).value_or(-1);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  std::string ctl_log() { return fs::read_all(dir() / "ctl.log", 1 << 20).value_or(""); }

  std::string bootstrap_;
  const tls::Names node_{.common_name = "system:node:edge-a", .organizations = {"system:nodes"}};
};

TEST_F(EdgeSecure, ATokenIsItsOwnersUpstreamAndNeverTheNodes) {
  start();
  ASSERT_TRUE(wait_for_link("connected"));
  // The server prefers client certificates to tokens: the connection must not present the node's.
  const Ask alice{
      .method = Method::post, .target = review, .body = review_body, .bearer = "alice-token"};
  EXPECT_EQ(who(ask(agent_port, alice)), "alice");
  EXPECT_EQ(who(ask_over_tls(secure_port, alice, certificate(node_))), "alice");
  Ask wrong = alice;
  wrong.bearer = "wrong-token";
  EXPECT_EQ(ask(agent_port, wrong).status, 401);
  EXPECT_EQ(ask_over_tls(secure_port, wrong, certificate(node_)).status, 401);
  Ask node = alice;
  node.bearer = "";
  EXPECT_EQ(who(ask(agent_port, node)), "system:node:edge-a")
      << "a caller with an allowed uid acts as the node";
}

TEST_F(EdgeSecure, ACertificateAloneReadsItsOwnersRowsAndNothingElse) {
  start();
  ASSERT_TRUE(wait_for_link("connected"));
  warm({own_node});
  const Ask read{.target = own_node + "&resourceVersion=0"};
  const Ask write{.method = Method::post, .target = review, .body = review_body};
  EXPECT_EQ(ask_over_tls(secure_port, read).status, 0)
      << "the listener requires a client certificate";
  const tls::Identity node = certificate(node_);
  const tls::Identity admin =
      certificate({.common_name = "a", .organizations = {"system:masters"}});
  EXPECT_EQ(ask_over_tls(secure_port, read, node).status, 200);
  EXPECT_EQ(ask_over_tls(secure_port, read, admin).status, 403);
  EXPECT_EQ(ask_over_tls(secure_port, write, node).status, 403);
  EXPECT_EQ(ask_over_tls(secure_port, write, admin).status, 403);
  EXPECT_EQ(ask_over_tls(secure_port, {.target = "/api/v1/namespaces/ns/pods/p/log"}, node).status,
            503)
      << "a request with only a certificate is not forwarded";
  tls::Signer other =
      tls::Signer::make(tls::Signer::make_authority("other", SystemClock().wall() - 1h,
                                                    SystemClock().wall() + 1h))
          .value();
  const std::string key = tls::make_key_pem();
  const auto forged = other.sign(tls::make_request_pem(key, node_).value(),
                                 {.not_before = SystemClock().wall() - 1h,
                                  .not_after = SystemClock().wall() + 1h,
                                  .for_client = true});
  EXPECT_EQ(ask_over_tls(secure_port, read, {*forged, key}).status, 0);
  server->kill();
  ASSERT_TRUE(wait_for_link("offline"));
  EXPECT_EQ(ask_over_tls(secure_port, read, node).status, 200);
  EXPECT_EQ(ask_over_tls(secure_port, read, admin).status, 403);
}

TEST_F(EdgeSecure, TheListenerShowsACertificateOfTheCluster) {
  start({"--serving-names=edge.example.org"});
  ASSERT_TRUE(wait_for_link("connected"));
  const auto file = agent_dir() / "pki/serving-current.pem";
  ASSERT_TRUE(eventually(20s, [&file] { return std::filesystem::exists(file); }));
  // From here on the client verifies the name and the authority.
  const tls::Identity node = certificate(node_);
  const auto verified = [this, &node] {
    const Ask read{.target = own_node + "&resourceVersion=0", .limit = 5s};
    return ask_over_tls(secure_port, read, node, "edge.example.org").status == 200;
  };
  EXPECT_TRUE(eventually(10s, verified)) << "the new certificate is used without a restart";
}

TEST_F(EdgeSecure, SecretsAreSealedOnTheDisk) {
  const std::string hidden = base64_encode("a very secret phrase");
  const std::string in_config = base64_encode("a phrase in a ConfigMap");
  const std::string in_pod = base64_encode("a phrase in a pod's environment");
  const std::string open = "nothing-to-hide";  // names are neither sealed nor packed
  ASSERT_EQ(as_admin(Method::post, "/api/v1/namespaces/ns/secrets",
                     R"({"metadata":{"name":"s"},"data":{"k":")" + hidden + R"("}})")
                .status,
            201);
  ASSERT_EQ(as_admin(Method::post, "/api/v1/namespaces/ns/configmaps",
                     R"({"metadata":{"name":"c"},"data":{"k":")" + in_config + R"("}})")
                .status,
            201);
  ASSERT_EQ(as_admin(Method::post, "/api/v1/namespaces/ns/services",
                     R"({"metadata":{"name":")" + open + R"("},"spec":{"ports":[{"port":80}]}})")
                .status,
            201);
  const Answer pod =
      as_admin(Method::post, "/api/v1/namespaces/ns/pods",
               R"({"metadata":{"name":"p"},"spec":{"nodeName":"edge-a","serviceAccountName":"sa",)"
               R"("volumes":[{"name":"s","secret":{"secretName":"s"}},)"
               R"({"name":"c","configMap":{"name":"c"}}],)"
               R"("containers":[{"name":"c","image":"i","env":[{"name":"K","value":")" +
                   in_pod + R"("}]}]}})");
  ASSERT_EQ(pod.status, 201) << pod.body;
  ASSERT_EQ(as_admin(Method::post, "/api/v1/namespaces/ns/serviceaccounts",
                     R"({"metadata":{"name":"sa"}})")
                .status,
            201);
  const std::string first = (dir() / "first.key").string();
  const std::string second = (dir() / "second.key").string();
  const std::string bad = (dir() / "bad.key").string();
  ASSERT_TRUE(fs::atomic_write(first, std::string(32, 'x')));
  ASSERT_TRUE(fs::atomic_write(second, base64_encode(std::string(32, 'y')) + "\n"));
  ASSERT_TRUE(fs::atomic_write(bad, "short"));
  start({"--cache-key-file=" + bad});
  EXPECT_NE(agent->wait(20s).value_or(0), 0);
  EXPECT_NE(log().find(bad + ": a key is 32 bytes"), std::string::npos) << log();

  start({"--cache-key-file=" + first});
  ASSERT_TRUE(wait_for_link("connected"));
  warm({secret_s, map_c, "/api/v1/namespaces/ns/services", node_pods});
  const Ask ask_token{.method = Method::post,
                      .target = "/api/v1/namespaces/ns/serviceaccounts/sa/token",
                      .body = R"({"kind":"TokenRequest","apiVersion":"authentication.k8s.io/v1",)"
                              R"("spec":{"expirationSeconds":3600,"boundObjectRef":)"
                              R"({"kind":"Pod","apiVersion":"v1","name":"p","uid":")" +
                              pod.text({"metadata", "uid"}) + R"("}}})"};
  const Answer token = ask(agent_port, ask_token);
  ASSERT_EQ(token.status, 201) << token.body;
  ASSERT_TRUE(eventually(10s, [this, &open] { return on_disk(open); }));
  server->kill();
  agent.reset();
  for (const std::string& sealed : {hidden, in_config, in_pod}) {
    EXPECT_FALSE(on_disk(sealed)) << base64_decode(sealed).value();
  }
  EXPECT_FALSE(on_disk(token.text({"status", "token"})));
  start({"--cache-key-file=" + first});
  ASSERT_TRUE(eventually(20s, [this] { return agent_ready(); }));
  EXPECT_NE(get(agent_port, secret_s + "&resourceVersion=0").body.find(hidden), std::string::npos);
  EXPECT_EQ(ask(agent_port, ask_token).body, token.body);

  // With another key the sealed rows are treated as missing, and the log says so.
  start({"--cache-key-file=" + second});
  ASSERT_TRUE(eventually(20s, [this] { return agent_ready(); }));
  for (const std::string& sealed : {secret_s, map_c, std::string(node_pods)}) {
    EXPECT_EQ(get(agent_port, sealed + "&resourceVersion=0").status, 503) << sealed;
  }
  EXPECT_EQ(ask(agent_port, ask_token).status, 503);
  EXPECT_EQ(get(agent_port, "/api/v1/namespaces/ns/services?resourceVersion=0").status, 200);
  EXPECT_NE(log().find("sealed with another key"), std::string::npos) << log();
  EXPECT_NE(run_ctl({"rekey", "--old-key-file=" + first, "--new-key-file=" + second}), 0)
      << "rekey must fail while an agent runs";
  agent.reset();
  // On the files of a stopped agent.
  EXPECT_EQ(run_ctl({"--cache-key-file=" + first, "ready"}), 1) << ctl_log();
  EXPECT_NE(ctl_log().find("ns/p"), std::string::npos) << ctl_log();
  EXPECT_GT(run_ctl({"ready"}), 1) << ctl_log();
  EXPECT_NE(ctl_log().find("sealed, and no key is given"), std::string::npos) << ctl_log();
  EXPECT_NE(run_ctl({"rekey", "--old-key-file=" + second, "--new-key-file=" + second}), 0);
  EXPECT_EQ(run_ctl({"rekey", "--old-key-file=" + first, "--new-key-file=" + second}), 0);
  start({"--cache-key-file=" + second});
  ASSERT_TRUE(eventually(20s, [this] { return agent_ready(); }));
  EXPECT_NE(get(agent_port, secret_s + "&resourceVersion=0").body.find(hidden), std::string::npos);
  EXPECT_EQ(ask(agent_port, ask_token).body, token.body);
  EXPECT_FALSE(on_disk(hidden));
}

}  // namespace
}  // namespace holdfast::test
