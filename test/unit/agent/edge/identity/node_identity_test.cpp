// The node's identity as a whole: its credentials, when they are loaded again, and what works
// without them.

#include "agent/edge/identity/node_identity.h"

#include <fstream>

#include "platform/loop/tasks.h"
#include "platform/text.h"
#include "test/support/fake_proxy.h"
#include "test/support/kubeconfig.h"
#include "test/support/run.h"
#include "test/support/scratch_dir.h"
#include "test/unit/agent/client/caller_echo_server.h"

namespace holdfast::agent {
namespace {

using namespace std::chrono_literals;

asio::awaitable<std::string> ask(ApiClient& client) {
  ApiRequest request{.target = "/who"};
  const auto answer = co_await client.call(std::move(request), test::VirtualClock::begin + 9min);
  co_return answer ? *answer : answer.error().what;
}

class NodeIdentityTest : public testing::Test {
 protected:
  void write_certificate(const std::string& name) {
    const tls::Identity made = test::authority().sign({.common_name = name});
    std::ofstream(dir_.path() / "node.pem") << made.certificate_pem << made.key_pem;
  }
  NodeIdentityTest() {
    // Certificates are valid now, so set the virtual wall clock to the real time.
    time_.clock().jump_wall(SystemClock().wall() - time_.clock().wall());
  }

  void write_kubeconfig(std::uint16_t port) {
    (void)test::write_kubeconfig(
        options_.kubeconfig, "https://127.0.0.1:" + std::to_string(port),
        "certificate-authority-data: " + base64_encode(test::authority().certificate_pem()),
        "client-certificate: node.pem, client-key: node.pem");
  }
  Result<std::unique_ptr<NodeIdentity>> open(const asio::any_io_executor& executor) {
    return NodeIdentity::open(executor, {options_, "a", dir_.path()}, clock_, random_);
  }

  // Replaces the node's certificate, named "first", by "second" while a client has an open
  // connection, and then calls `check`.
  using Check = std::function<asio::awaitable<void>(NodeIdentity&, ApiClient&)>;
  void replace_certificate(const Check& check) {
    test::run(time_, [this, &check](asio::io_context& context) -> asio::awaitable<void> {
      test::CallerEchoServer server(context);
      write_certificate("first");
      write_kubeconfig(server.port);
      const auto identity = open(time_.executor()).value();
      const auto client = identity->make_client("test").value();
      loop::Tasks tasks(context.get_executor());
      tasks.spawn("keep", identity->keep_client_certificate());
      EXPECT_EQ(co_await ask(*client), "first/");
      write_certificate("second");
      co_await check(*identity, *client);
      tasks.cancel();
      co_await tasks.join();
      client->forget_connections();
      co_await server.stop();
    });
  }

  test::ScratchDir dir_;
  test::VirtualTime time_;
  TrustedClock clock_{time_.clock(), dir_.path() / "time-floor"};
  Random random_{1};
  IdentityOptions options_{.kubeconfig = (dir_.path() / "kubeconfig").string()};
};

TEST_F(NodeIdentityTest, AKubeconfigsFilesAreReadAgainWhenTheServerRefusesTheOld) {
  replace_certificate([this](NodeIdentity& identity, ApiClient& client) -> asio::awaitable<void> {
    EXPECT_EQ(co_await ask(client), "first/");
    identity.unauthorized();
    EXPECT_EQ(co_await ask(client), "first/") << "this connection was already open";
    EXPECT_EQ(co_await ask(client), "second/");
    std::ofstream(dir_.path() / "node.pem") << "half a file";
    identity.unauthorized();
    (void)co_await ask(client);
    EXPECT_EQ(co_await ask(client), "second/") << "an invalid file changes nothing";
  });
}

TEST_F(NodeIdentityTest, AKubeconfigsFilesAreReadAgainEveryFiveMinutes) {
  replace_certificate([](NodeIdentity& /*identity*/, ApiClient& client) -> asio::awaitable<void> {
    co_await loop::sleep_until(test::VirtualClock::begin + 4min + 59s);
    EXPECT_EQ(co_await ask(client), "first/");
    co_await loop::sleep_until(test::VirtualClock::begin + 5min + 1s);
    EXPECT_EQ(co_await ask(client), "second/");
  });
}

TEST_F(NodeIdentityTest, AChangedProxyIsUsed) {
  test::run(time_, [this](asio::io_context& context) -> asio::awaitable<void> {
    test::CallerEchoServer server(context);
    test::FakeProxy proxy(context.get_executor(), {});
    write_certificate("node");
    write_kubeconfig(server.port);
    const auto identity = open(time_.executor()).value();
    const auto client = identity->make_client("test").value();
    loop::Tasks tasks(context.get_executor());
    tasks.spawn("keep", identity->keep_client_certificate());
    EXPECT_EQ(co_await ask(*client), "node/");
    EXPECT_EQ(proxy.asked.size(), 0u);
    std::string text = fs::read_all(options_.kubeconfig, 1 << 20).value();
    text.replace(text.find("server:"), 0,
                 "proxy-url: \"http://127.0.0.1:" + std::to_string(proxy.port()) + "\", ");
    std::ofstream(options_.kubeconfig) << text;
    identity->unauthorized();
    (void)co_await ask(*client);
    EXPECT_EQ(co_await ask(*client), "node/");
    EXPECT_EQ(proxy.asked.size(), 1u);
    tasks.cancel();
    co_await tasks.join();
    client->forget_connections();
    proxy.stop();
    co_await server.stop();
  });
}

TEST_F(NodeIdentityTest, WithoutACertificateNothingLeavesAndTheReasonIsTold) {
  options_.kubeconfig.clear();
  options_.join_token = "abcdef.secret";
  options_.servers = {"127.0.0.1:1"};
  options_.ca_hash = "sha256:" + std::string(64, '0');
  test::run(time_, [this](asio::io_context&) -> asio::awaitable<void> {
    const auto identity = open(time_.executor()).value();
    const auto client = identity->make_client("test").value();
    EXPECT_EQ(co_await ask(*client), "GET /who: the cluster's authority is not known yet");
    EXPECT_EQ(identity->authority(), "");
    EXPECT_EQ(identity->ends(sync::identity::CertificateUse::client), std::nullopt);
  });
}

TEST_F(NodeIdentityTest, AMissingFileIsAnErrorUntilThereIsACertificate) {
  const auto missing = open(time_.executor());
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Errc::not_found);
  EXPECT_NE(missing.error().what.find(options_.kubeconfig), std::string::npos);
  options_.bootstrap_kubeconfig = options_.kubeconfig;
  options_.kubeconfig.clear();
  EXPECT_EQ(open(time_.executor()).error().code, Errc::not_found);
  const PkiDir pki = PkiDir::open(dir_.path()).value();
  const auto held = test::authority().sign({.common_name = "system:node:a"});
  ASSERT_TRUE(pki.store(sync::identity::CertificateUse::client, held));
  EXPECT_FALSE(open(time_.executor())) << "the address of the cluster is unknown";
  ClusterAccess access;
  access.tls = true;
  access.server = {"192.0.2.1", 6443};
  access.tls_settings.ca_pem = test::authority().certificate_pem();
  ASSERT_TRUE(pki.store_cluster(access));
  const auto opened = open(time_.executor());
  ASSERT_TRUE(opened) << opened.error().what;
  EXPECT_EQ((*opened)->authority(), test::authority().certificate_pem());
  EXPECT_TRUE((*opened)->ends(sync::identity::CertificateUse::client));
}

TEST_F(NodeIdentityTest, UntilTheClusterSignsTheListenerSignsForItself) {
  test::run(time_, [this](asio::io_context& context) -> asio::awaitable<void> {
    test::CallerEchoServer server(context);
    write_certificate("first");
    write_kubeconfig(server.port);
    options_.secure_listen = "0.0.0.0:10268";
    options_.serving_names = {"192.0.2.9", "edge.example.org"};
    const auto identity = open(time_.executor()).value();
    const tls::Identity serving = identity->serving().value();
    EXPECT_TRUE(tls::check_pair(serving));
    EXPECT_EQ(tls::read_certificate(serving.certificate_pem)->names,
              (tls::Names{.common_name = "system:node:a",
                          .organizations = {"system:nodes"},
                          .alternatives = {"DNS:a", "IP:192.0.2.9", "DNS:edge.example.org"}}));
    EXPECT_EQ(identity->serving()->key_pem, serving.key_pem)
        << "the same certificate for all callers";
    co_await server.stop();
  });
}

}  // namespace
}  // namespace holdfast::agent
