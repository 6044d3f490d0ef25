// The listener address for pods, in a network namespace of the test: the agent creates the
// interface or uses an existing one, pods with tokens connect by TLS, callers without one are
// refused, and a clean stop removes what the agent added.

#include <linux/capability.h>
#include <sched.h>
#include <sys/prctl.h>

#include <thread>

#include "platform/net/interfaces.h"
#include "test/e2e/secure_bench.h"

namespace holdfast::test {
namespace {

using http::Method;

const std::string pods_ip = "169.254.2.1";
const std::string who_am_i = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
const std::string who_body =
    R"({"kind":"SelfSubjectReview","apiVersion":"authentication.k8s.io/v1"})";

// Runs `body` in a thread with its own network namespace, which its child processes inherit.
void in_a_network_of_its_own(const std::function<void()>& body) {
  std::thread inside([&body] {
    ASSERT_EQ(unshare(CLONE_NEWNET), 0) << "needs root";
    const auto interfaces = net::kernel_interfaces();
    ASSERT_TRUE(interfaces->set_up(interfaces->find("lo").value().value().index));
    body();
  });
  inside.join();
}

class EdgePods : public ::testing::Test, public SecureBench {
 protected:
  // Whether this kernel supports dummy interfaces. The tests cover both cases.
  bool has_dummies() {
    if (!interfaces_->add_dummy("probe0")) return false;
    EXPECT_TRUE(interfaces_->remove(interfaces_->find("probe0").value()->index));
    return true;
  }
  // For example "dummy up 169.254.2.1/32", or "none".
  std::string state(const std::string& name) {
    const auto found = interfaces_->find(name).value();
    if (!found) return "none";
    std::string text = found->kind + (found->up ? " up" : " down");
    const auto addresses = interfaces_->addresses(found->index).value();
    for (const net::InterfaceAddress& each : addresses) {
      if (each.address.is_v6()) continue;
      text += " " + each.address.to_string() + "/" + std::to_string(each.prefix_bits);
    }
    return text;
  }
  void start(const std::string& name) {
    launch_secure({"--bootstrap-kubeconfig=" + write_kubeconfig("boot", "boot.token", server_port),
                   "--dummy-if-ip=" + pods_ip, "--dummy-if-name=" + name});
    ASSERT_TRUE(eventually(20s, [this] { return agent_ready(); })) << log();
    ASSERT_TRUE(wait_for_link("connected"));
  }
  std::string who(const std::string& token) {
    const Ask question{
        .method = Method::post, .target = who_am_i, .body = who_body, .bearer = token, .limit = 5s};
    const Answer answer = ask_over_tls(net::HostPort{pods_ip, secure_port}, question, {}, pods_ip);
    if (answer.status == 201) return answer.text({"status", "userInfo", "username"});
    return std::to_string(answer.status);
  }
  // The address that the kubelet gets for the service by which pods reach the API server.
  std::string master() {
    const Answer service =
        ask(agent_port, {.target = "/api/v1/namespaces/default/services?resourceVersion=0"});
    return service.status != 200 ? std::to_string(service.status)
           : service.body.find("\"clusterIP\":\"" + pods_ip + "\"") != std::string::npos
               ? pods_ip
               : "the cluster's";
  }
  void stop_cleanly() {
    agent->signal(SIGTERM);
    EXPECT_EQ(agent->wait(20s).value_or(-1), 0) << log();
    agent.reset();
  }
  void check_callers() {
    // The connection verifies that the certificate is the cluster's and contains the address.
    ASSERT_TRUE(eventually(20s, [this] { return who("alice-token") == "alice"; }))
        << who("alice-token") << log();
    EXPECT_EQ(who("wrong-token"), "401");
    EXPECT_EQ(who(""), "401") << "a pod does not get the node's identity";
    const Answer plain = ask({pods_ip, agent_port}, {.target = nodes, .limit = 5s});
    EXPECT_EQ(plain.status, 0) << "this address accepts only TLS";
    ASSERT_TRUE(eventually(20s, [this] { return master() == pods_ip; })) << master();
  }
  void play();

  std::unique_ptr<net::Interfaces> interfaces_ = net::kernel_interfaces();
  const std::string name_ = "yurthub-dummy0";
};

void EdgePods::play() {
  start_tls_server();
  const Answer made =
      as_admin(Method::post, "/api/v1/namespaces/default/services",
               R"({"metadata":{"name":"kubernetes"},"spec":{"clusterIP":"10.96.0.1",)"
               R"("ports":[{"name":"https","port":443}]}})");
  ASSERT_TRUE(made.status == 201 || made.status == 409) << made.body;
  const bool dummies = has_dummies();
  start(name_);
  if (dummies) {
    EXPECT_EQ(state(name_), "dummy up 169.254.2.1/32");
    check_callers();
    agent->kill();
    EXPECT_EQ(state(name_), "dummy up 169.254.2.1/32") << "the next agent reuses the interface";
    start(name_);
    check_callers();
    stop_cleanly();
    EXPECT_EQ(state(name_), "none");
  } else {
    EXPECT_NE(log().find("load its module `dummy`"), std::string::npos) << log();
    EXPECT_EQ(state(name_), "none");
    ASSERT_TRUE(eventually(20s, [this] { return master() == "the cluster's"; })) << master();
    stop_cleanly();
  }
  // An existing interface is used as it is; at the end only the agent's address is removed.
  EXPECT_EQ(state("lo"), " up 127.0.0.1/8");
  start("lo");
  EXPECT_EQ(state("lo"), " up 127.0.0.1/8 169.254.2.1/32");
  check_callers();
  stop_cleanly();
  EXPECT_EQ(state("lo"), " up 127.0.0.1/8");
}

TEST_F(EdgePods, ComeInByAnInterfaceOfTheirOwn) {
  in_a_network_of_its_own([this] { play(); });
}

// The pages of the admin listener on all addresses of a network, in which nobody else listens.
class EdgeAdmin : public ::testing::Test, public SecureBench {
 protected:
  // The status of the answer; 0 if there is none.
  int status_of(const std::string& path, const tls::Identity& caller) {
    return ask_over_tls(admin_port, {.target = path, .limit = 5s}, caller, "127.0.0.1").status;
  }
};

TEST_F(EdgeAdmin, BeyondLoopbackNobodyIsServedWithoutACertificate) {
  in_a_network_of_its_own([this] {
    start_tls_server();
    std::vector<std::string> argv = secure_argv(
        {"--bootstrap-kubeconfig=" + write_kubeconfig("boot", "boot.token", server_port)});
    for (std::string& flag : argv) {
      if (!flag.starts_with("--admin-listen=")) continue;
      flag = "--admin-listen=0.0.0.0:" + std::to_string(admin_port);
    }
    agent = std::make_unique<Process>(argv, (dir() / "agent.log").string());
    const tls::Identity node =
        certificate({.common_name = "system:node:edge-a", .organizations = {"system:nodes"}});
    const tls::Identity master =
        certificate({.common_name = "ann", .organizations = {"system:masters"}});
    const tls::Identity other =
        certificate({.common_name = "system:node:edge-b", .organizations = {"system:nodes"}});
    ASSERT_TRUE(eventually(30s, [&] { return status_of("/readyz", node) == 200; })) << log();
    for (const char* path : {"/healthz", "/metrics", "/v1/status"}) {
      SCOPED_TRACE(path);
      const bool is_public = std::string_view(path) != "/v1/status";
      EXPECT_EQ(status_of(path, node), 200);
      EXPECT_EQ(status_of(path, master), 200);
      EXPECT_EQ(status_of(path, other), is_public ? 200 : 403);
      EXPECT_EQ(status_of(path, {}), 0) << "not even the handshake";
      EXPECT_EQ(ask(admin_port, {.target = path, .limit = 5s}).status, 0) << "only TLS";
    }
  });
}

TEST_F(EdgePods, WithoutThePermissionAllOthersAreServed) {
  in_a_network_of_its_own([this] {
    // Affects the processes that this thread starts from now on.
    ASSERT_EQ(prctl(PR_CAPBSET_DROP, CAP_NET_ADMIN, 0, 0, 0), 0);
    start_tls_server();
    start(name_);
    EXPECT_NE(log().find("needs CAP_NET_ADMIN"), std::string::npos) << log();
    EXPECT_EQ(state(name_), "none");
    warm({own_node});
    stop_cleanly();
  });
}

}  // namespace
}  // namespace holdfast::test
