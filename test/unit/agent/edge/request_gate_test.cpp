// The limit of a request body, which is decided from the head of the request.

#include "agent/edge/door/request_gate.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "test/support/scratch_dir.h"
#include "test/support/virtual_time.h"

namespace holdfast::agent {
namespace {

TEST(RequestGate, ABodyIsAsLargeAsItsKindMayBe) {
  using enum http::Method;
  constexpr std::size_t few = 64UL * 1024;
  constexpr std::size_t many = 3UL * 1024 * 1024;
  const struct {
    http::Method method;
    std::string target;
    std::size_t bytes;
  } rows[] = {
      {get, "/api/v1/pods", 0},
      {head, "/api/v1/pods", 0},
      {remove, "/api/v1/namespaces/a/pods/p", few},
      {post, "/api/v1/namespaces/a/pods", many},
      {put, "/api/v1/namespaces/a/configmaps/c?fieldManager=m", many},
      {patch, "/api/v1/nodes/n/status", many},
      {put, "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n", few},
      {post, "/api/v1/namespaces/a/events", few},
      {patch, "/apis/events.k8s.io/v1/namespaces/a/events/e", few},
      {post, "/api/v1/namespaces/a/serviceaccounts/s/token", few},
      {post, "/api/v1/namespaces/a/pods/p/eviction", few},
      {post, "/api/v1/namespaces/a/pods/p/binding", few},
      {post, "/apis/authorization.k8s.io/v1/subjectaccessreviews", few},
      {post, "/apis/authentication.k8s.io/v1/tokenreviews", few},
      {put, "/api/v1/namespaces/events/configmaps/c", many},
      {put, "/api/v1/namespaces/a/configmaps/leases-of-a", many},
      {put, "/api/v1/namespaces/a/configmaps/token", many},
      {post, "/api/v1/%zz", few},
  };
  for (const auto& row : rows) {
    const http::Request request{.method = row.method, .target = row.target};
    EXPECT_EQ(body_bytes_max(request), row.bytes) << row.target;
  }
}

TEST(RequestGate, ATokenIsMadeOnlyWhereNobodyElseMayWrite) {
  const test::ScratchDir dir;
  EdgeOptions options;
  options.node_token_file = dir.path() / "token";
  ASSERT_EQ(::chmod(dir.path().c_str(), 0777), 0);
  const auto refused = load_node_token(options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::denied) << refused.error().what;
  EXPECT_FALSE(std::filesystem::exists(options.node_token_file));
  ASSERT_EQ(::chmod(dir.path().c_str(), 0700), 0);
  const auto made = load_node_token(options);
  ASSERT_TRUE(made) << made.error().what;
  EXPECT_EQ(load_node_token(options).value(), *made);
}

// An admin listener beyond loopback, which uses TLS.
TEST(RequestGate, PagesOverTlsAreForTheNodeAndForAdministrators) {
  const auto peer = [](const std::string& name, const std::vector<std::string>& groups) {
    net::Peer made;
    made.address = "10.0.0.9";
    made.common_name = name;
    made.organizations = groups;
    return made;
  };
  const net::Peer nobody = peer("", {});
  const net::Peer node = peer("system:node:edge1", {"system:nodes"});
  const net::Peer other = peer("system:node:edge2", {"system:nodes"});
  const net::Peer no_group = peer("system:node:edge1", {});
  const net::Peer master = peer("ann", {"a", "system:masters"});
  const std::string page = "/v1/status";
  const std::string upgrade = "/openyurt.io/v1/namespaces/a/pods/p/upgrade";
  const struct {
    const char* what;
    net::Peer peer;
    std::string path;
    std::string credentials;
    int status;  // of the refusal; 0: none
  } rows[] = {
      {"public", nobody, "/healthz", "", 0},
      {"public", nobody, "/v1/readyz", "", 0},
      {"public", other, "/metrics", "", 0},
      {"the node", node, page, "", 0},
      {"the node", node, upgrade, "", 0},
      {"an administrator", master, page, "", 0},
      {"an administrator", master, upgrade, "", 0},
      {"another node", other, page, "", 403},
      {"another node", other, upgrade, "", 403},
      {"not in the nodes' group", no_group, page, "", 403},
      {"nobody", nobody, page, "", 401},
      {"nobody", nobody, upgrade, "", 401},
      {"a token", nobody, page, "Bearer t", 403},
      {"a token counts before a certificate", master, page, "Bearer t", 403},
      {"a token, which the API server checks", nobody, upgrade, "Bearer t", 0},
      {"the node's token", node, page, "Bearer secret", 401},
      {"the node's token", nobody, upgrade, "Bearer secret", 401},
  };
  EdgeOptions options;
  options.node_name = "edge1";
  test::VirtualClock clock;
  const test::ScratchDir dir;  // without any process
  LocalCallers local(options, clock, proc::SocketHolders({}, dir.path(), dir.path()));
  Metrics metrics;
  RequestGate gate(options, local, "secret", metrics);
  for (const auto& row : rows) {
    http::Request request{.target = row.path, .peer = row.peer};
    if (!row.credentials.empty()) request.headers.add("Authorization", row.credentials);
    const auto refusal = gate.refuse_admin(Listener::admin_tls, request);
    EXPECT_EQ(refusal ? refusal->status : 0, row.status) << row.what << " " << row.path;
  }
}

}  // namespace
}  // namespace holdfast::agent
