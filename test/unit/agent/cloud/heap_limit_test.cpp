// The service when the objects of the cluster do not fit into --heap-max.

#include "platform/memory.h"
#include "test/unit/agent/cloud/scheduler/scheduler_fixture.h"

namespace holdfast::agent {
namespace {

// A cluster with the nodes a, b and c, and the pod p on a. Without the ballast, it fits.
class CloudHeap : public testing::Test {
 protected:
  CloudHeap() {
    for (const char* name : {"a", "b", "c"}) fixture.add_node(name);
    cluster.add_pod("p", "a");
  }

  void start() {
    CloudSettings settings = cluster.settings(cluster.proxy);
    settings.controllers = {"*", "scheduler"};
    settings.heap_max = limit;
    fixture.start(settings);
  }
  void fill_heap() { ballast_ = std::make_unique<std::string>(64UL << 20, 'x'); }
  void empty_heap() { ballast_.reset(); }
  // The heap is measured again before an object as large as this one is accepted.
  void enlarge(const std::string& path) {
    cluster.ask(http::Method::patch, path,
                R"({"metadata":{"annotations":{"example.com/large":")" + std::string(100'000, 'x') +
                    R"("}}})",
                SchedulerFixture::merge);
  }
  [[nodiscard]] std::string ready() {
    const http::Request request{.target = "/readyz"};
    return (*fixture.replica)->endpoints().answer(request).body;
  }
  void expect_all_is_done() {
    EXPECT_TRUE(fixture.until([&] { return ready() == "ok" && fixture.is_bound("q"); }));
    EXPECT_TRUE(cluster.time.run_until(3min, [&] { return cluster.is_terminating("p"); }));
    EXPECT_EQ(cluster.taints("a"), lost_taints);
    EXPECT_EQ(cluster.taints("b") + cluster.taints("c"), "");
  }

  SchedulerFixture fixture;
  Cluster& cluster = fixture.cluster;
  const std::int64_t limit = static_cast<std::int64_t>(heap_bytes_in_use() + (32UL << 20));

 private:
  std::unique_ptr<std::string> ballast_;
};

TEST_F(CloudHeap, WhatDoesNotFitAnyMoreIsNamedAndNothingIsDecided) {
  start();
  cluster.time.run(30s);
  EXPECT_EQ(ready(), "ok");
  fill_heap();
  enlarge("/api/v1/nodes/b");
  cluster.time.run(1s);
  EXPECT_EQ(ready(),
            "[+]ping ok\n[-]caches failed: the scheduler's lists exceed --heap-max\n[+]watches "
            "ok\n[-]api-server-contact failed: a list exceeds --heap-max\nreadyz check failed\n");
  cluster.silence("a");
  fixture.add_pod("q", "1");
  cluster.time.run(5min);
  EXPECT_EQ(ready(),
            "[+]ping ok\n[-]caches failed: the scheduler's lists exceed --heap-max\n[-]watches "
            "failed: no news for more than 3m0s: nodes pods leases\n[-]api-server-contact failed: "
            "a list exceeds --heap-max\nreadyz check failed\n");
  EXPECT_EQ(cluster.ready("a"), "True");
  EXPECT_FALSE(cluster.is_terminating("p"));
  EXPECT_FALSE(fixture.is_bound("q"));
  empty_heap();
  expect_all_is_done();
}

TEST_F(CloudHeap, WhatNeverFitsIsNamedAndNothingIsDecided) {
  fill_heap();
  for (const char* path : {"/api/v1/nodes/b", "/api/v1/namespaces/default/pods/p",
                           "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/b"}) {
    enlarge(path);
  }
  start();
  cluster.silence("a");
  fixture.add_pod("q", "1");
  cluster.time.run(5min);
  const std::string why =
      " (the objects take more than " + std::to_string(limit) + " bytes of memory (--heap-max))";
  EXPECT_EQ(ready(), "[+]ping ok\n[-]caches failed: never received in full: nodes" + why + " pods" +
                         why + " leases" + why +
                         "\n[+]watches ok\n[-]api-server-contact failed: a list exceeds "
                         "--heap-max\nreadyz check failed\n");
  EXPECT_EQ(cluster.ready("a"), "True");
  EXPECT_FALSE(cluster.is_terminating("p"));
  EXPECT_FALSE(fixture.is_bound("q"));
  empty_heap();
  expect_all_is_done();
}

}  // namespace
}  // namespace holdfast::agent
