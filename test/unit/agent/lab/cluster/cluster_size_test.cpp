// How many nodes and kubelets a cluster of real processes may have.

#include "agent/lab/cluster/cluster.h"
#include "test/support/virtual_time.h"

namespace holdfast::agent::lab::cluster {
namespace {

asio::awaitable<void> start_and_stop(Cluster& cluster, Status& started) {
  started = co_await cluster.start();
  (void)co_await cluster.stop();
}

// The cluster's folder cannot be made, so nothing is ever started.
std::string refusal_of_size(int nodes, int kubelets) {
  test::VirtualTime time;
  ClusterSettings settings;
  settings.data = "/dev/null/data";
  settings.bin = "/nonexistent";
  settings.sites = {{.name = "a", .nodes = nodes}};
  for (int number = 1; number <= kubelets; ++number) {
    settings.kubelet_nodes.insert("a-" + std::to_string(number));
  }
  Cluster cluster(time.executor(), std::move(settings), time.clock());
  Status started;
  time.complete(start_and_stop(cluster, started));
  EXPECT_FALSE(started);
  const bool is_about_size = !started && started.error().code == Errc::invalid;
  return is_about_size ? started.error().what : "";
}

TEST(LabClusterSize, IsLimited) {
  EXPECT_EQ(refusal_of_size(100, 4), "");
  EXPECT_EQ(refusal_of_size(101, 0),
            "101 nodes: at most 100 can run as real processes; `sim` plays more");
  EXPECT_EQ(refusal_of_size(5, 5), "5 nodes with a kubelet: at most 4 can run on one machine");
}

}  // namespace
}  // namespace holdfast::agent::lab::cluster
