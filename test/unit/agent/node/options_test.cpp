// The flags of holdfast-node: which values are refused, and which API server they select.

#include "agent/node/options.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace holdfast::agent::node {
namespace {

NodeOptions good() {
  NodeOptions options;
  options.node_name = "a";
  return options;
}

TEST(NodeOptionsTest, WhatIsWrongIsNamed) {
  const struct {
    std::function<void(NodeOptions&)> set;
    const char* part;
  } rows[] = {
      {[](NodeOptions& o) { o.node_name = ""; }, "--node-name is required"},
      {[](NodeOptions& o) { o.node_name = "A_b"; }, "--node-name: \"A_b\""},
      {[](NodeOptions& o) { o.server = "http://h", o.kubeconfig = "k"; }, "--kubeconfig"},
      {[](NodeOptions& o) { o.runtime = "docker"; }, "--runtime: \"docker\""},
      {[](NodeOptions& o) { o.data_dir = ""; }, "--data-dir"},
      {[](NodeOptions& o) { o.status_interval = {}; }, "--status-interval must be positive"},
      {[](NodeOptions& o) { o.lease_renew_interval = o.lease_duration; }, "--lease-duration"},
  };
  EXPECT_TRUE(check(good()));
  for (const auto& row : rows) {
    NodeOptions options = good();
    row.set(options);
    const Status checked = check(options);
    ASSERT_FALSE(checked) << row.part;
    EXPECT_NE(checked.error().what.find(row.part), std::string::npos) << checked.error().what;
  }
}

TEST(NodeOptionsTest, TheApiIsTheEdgeAgentsUnlessAnotherIsNamed) {
  NodeOptions options = good();
  EXPECT_EQ(api_access(options).value().server, (net::HostPort{"127.0.0.1", 10261}));
  options.server = "https://edge:6443/prefix";
  const ClusterAccess other = api_access(options).value();
  EXPECT_TRUE(other.tls);
  EXPECT_EQ(other.server, (net::HostPort{"edge", 6443}));
  EXPECT_EQ(other.path_prefix, "/prefix");
  options.server = "10261";
  EXPECT_TRUE(api_access(options).error().what.starts_with("--server"));
  options.server = "";
  options.kubeconfig = "/nowhere/k";
  EXPECT_NE(api_access(options).error().what.find("/nowhere/k"), std::string::npos);
}

// Containers and shims have other working directories. With a relative path they once started in a
// loop.
TEST(NodeOptionsTest, PathsAreMadeAbsoluteOnce) {
  const std::string here = std::filesystem::current_path().string();
  NodeOptions options = good();
  options.data_dir = "./node";
  ASSERT_TRUE(make_paths_absolute(options));
  EXPECT_EQ(options.data_dir, here + "/node");
  EXPECT_EQ(options.kubeconfig, "") << "a path that was not given stays empty";
  ASSERT_TRUE(make_paths_absolute(options));
  EXPECT_EQ(options.data_dir, here + "/node");
}

}  // namespace
}  // namespace holdfast::agent::node
