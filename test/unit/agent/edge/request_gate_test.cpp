// The limit of a request body, which is decided from the head of the request.

#include "agent/edge/door/request_gate.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "test/support/scratch_dir.h"

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

}  // namespace
}  // namespace holdfast::agent
