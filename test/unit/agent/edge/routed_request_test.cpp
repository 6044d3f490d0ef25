// Which part of the agent answers a request.

#include "agent/edge/route/routed_request.h"

#include <gtest/gtest.h>

namespace holdfast::agent {
namespace {

std::string_view name_of(HandlerKind handler) {
  switch (handler) {
    case HandlerKind::document:
      return "document";
    case HandlerKind::dial:
      return "dial";
    case HandlerKind::forward:
      return "forward";
    case HandlerKind::read:
      return "read";
    case HandlerKind::write:
      return "write";
  }
  return "?";
}

TEST(RoutedRequest, EachRequestHasItsWay) {
  constexpr std::string_view pods = "/api/v1/namespaces/ns/pods";
  const std::string lease = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
  struct Row {
    std::string method;
    std::string target;
    std::string_view handler;
    bool cached = true;  // the caller's reads are cached
    std::string accept = {};
  };
  const std::string table = "application/json;as=Table;v=v1;g=meta.k8s.io";
  const std::string in_ns(pods);
  const Row rows[] = {
      {"GET", "/version", "document"},
      {"GET", "/version", "document", false},
      {"GET", "/api", "document"},
      {"GET", "/apis/apps/v1", "document"},
      {"GET", "/openapi/v3?hash=1", "document"},
      {"HEAD", "/api", "document"},
      {"GET", "/healthz", "forward"},
      {"GET", "/metrics", "forward"},
      {"POST", "/api", "forward"},
      {"GET", in_ns, "read"},
      {"GET", in_ns, "forward", false},
      {"GET", in_ns + "?watch=1", "read"},
      {"GET", in_ns + "/a", "read"},
      {"GET", in_ns + "/a", "read", true, "application/vnd.kubernetes.protobuf"},
      {"GET", in_ns + "/a", "read", true, table + ",application/json"},
      {"GET", in_ns + "/a", "forward", true, table},
      {"GET", in_ns + "/a", "forward", true, "application/yaml"},
      {"GET", in_ns + "/a/status", "forward"},
      {"GET", in_ns + "/a/log", "dial"},
      {"GET", in_ns + "/a/exec?command=ls", "dial"},
      {"POST", in_ns + "/a/exec?command=ls", "dial"},
      {"POST", in_ns + "/a/proxy/x", "dial"},
      {"POST", in_ns, "write"},
      {"PATCH", in_ns + "/a/status", "write"},
      {"DELETE", in_ns, "write"},
      {"GET", lease + "/edge1", "write"},
      {"PUT", lease + "/edge1", "write"},
      {"GET", lease + "/edge2", "read"},
      {"GET", lease, "read"},
  };
  for (const Row& row : rows) {
    http::Request http{.method = http::parse_method(row.method), .target = row.target};
    if (!row.accept.empty()) http.headers.set("Accept", row.accept);
    const auto request = route(http, {.owner = "node", .agent = "kubelet", .cached = row.cached});
    ASSERT_TRUE(request) << row.target;
    EXPECT_EQ(name_of(handler_of(*request, "edge1")), row.handler)
        << row.method << " " << row.target;
    EXPECT_EQ(request->inner_accept.text(), row.accept);
  }
}

TEST(RoutedRequest, MalformedTargetsAreRefused) {
  for (const char* target : {"/api/v1/pods?a=%zz", "/api/v1/../pods", "/api/v1/watch"}) {
    const http::Request http{.target = target};
    const auto request = route(http, {});
    ASSERT_FALSE(request) << target;
    EXPECT_EQ(request.error().code, Errc::invalid) << request.error().what;
  }
}

}  // namespace
}  // namespace holdfast::agent
