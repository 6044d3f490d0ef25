// The whole holdfast-cloud with its default periods against the lab's API server, in virtual time.

#include "agent/cloud/cloud_service.h"

#include "test/unit/agent/cloud/cluster.h"

namespace holdfast::agent {
namespace {

TEST(CloudService, MarksTaintsEvictsAndTakesItBack) {
  Cluster cluster;
  for (const char* name : {"a", "b", "c"}) cluster.add_node(name);
  cluster.add_pod("p", "a");
  cluster.add_pod("q", "b");
  const auto replica = cluster.replica();
  cluster.time.run(1min);
  EXPECT_EQ(cluster.taints("a"), "");

  cluster.silence("a");
  const MonoTime silent = cluster.time.clock().mono();
  EXPECT_TRUE(cluster.time.run_until(2min, [&cluster] { return cluster.is_terminating("p"); }));
  EXPECT_GE(cluster.time.clock().mono() - silent, 40s) << "a lease may be ten seconds old";
  const sync::Node lost = cluster.node("a");
  EXPECT_EQ(find_condition(lost.status, "Ready")->status, "Unknown");
  EXPECT_EQ(find_condition(lost.status, "Ready")->reason, "NodeStatusUnknown");
  EXPECT_EQ(cluster.taints("a"), lost_taints);
  EXPECT_FALSE(cluster.is_terminating("q"));

  cluster.revive("a");
  EXPECT_TRUE(cluster.time.run_until(10s, [&cluster] { return cluster.taints("a").empty(); }));
  cluster.time.run(1min);
  EXPECT_EQ(cluster.ready("a"), "True");
}

TEST(CloudService, AnAutonomousNodeKeepsItsPods) {
  Cluster cluster;
  for (const char* name : {"a", "b", "c", "d"}) cluster.add_node(name);
  cluster.annotate("a", "node.beta.openyurt.io/autonomy", "true");
  cluster.add_pod("p", "a");
  cluster.add_pod("q", "b");
  const auto replica = cluster.replica();
  cluster.silence("a");
  cluster.silence("b");
  EXPECT_TRUE(cluster.time.run_until(2min, [&cluster] { return cluster.is_terminating("q"); }))
      << "the node that is not autonomous";
  cluster.time.run(5min);
  EXPECT_FALSE(cluster.is_terminating("p"));
  EXPECT_EQ(cluster.taints("a"), "node.kubernetes.io/unreachable:NoSchedule ");
}

// Node "a" is tainted and "b" is silent, but not Unknown yet, while the controller is replaced by
// another one. Without that, "b" would be Unknown 20 s later, and the pod evicted 30 s later.
TEST(CloudService, ReplacingTheControllerOnlyDelaysAnEviction) {
  Cluster cluster;
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) cluster.add_node(name);
  cluster.add_pod("p", "a", 60);
  auto replica = cluster.replica();
  cluster.time.run(1min);
  cluster.silence("a");
  ASSERT_TRUE(cluster.time.run_until(2min, [&] { return cluster.taints("a") == lost_taints; }));
  cluster.silence("b");
  cluster.time.run(30s);
  ASSERT_EQ(cluster.ready("b"), "True");
  ASSERT_FALSE(cluster.is_terminating("p"));

  replica.reset();
  CloudSettings other = cluster.settings(cluster.proxy);
  other.node_eviction_rate = 10;
  replica = std::make_unique<Replica>(cluster.time, other);
  const MonoTime started = cluster.time.clock().mono();
  const auto since_start = [&] { return cluster.time.clock().mono() - started; };
  EXPECT_TRUE(cluster.time.run_until(2min, [&] { return cluster.ready("b") == "Unknown"; }));
  EXPECT_GE(since_start(), 50s) << "a full grace period";
  EXPECT_FALSE(cluster.is_terminating("p"));
  EXPECT_TRUE(cluster.time.run_until(2min, [&] { return cluster.is_terminating("p"); }));
  EXPECT_GE(since_start(), 60s) << "the whole toleration time";
}

// Uses the default rate limits.
TEST(CloudService, ManyLostNodesAreAllMarkedWithinASecond) {
  Cluster cluster;
  constexpr int all = 200;
  constexpr int lost = 60;
  for (int index = 0; index < all; ++index) cluster.add_node("n" + std::to_string(index));
  const auto replica = cluster.replica();
  cluster.time.run(30s);
  const std::size_t before = Cluster::count(cluster.proxy, "PATCH /api/v1/nodes/n");
  for (int index = 0; index < lost; ++index) cluster.silence("n" + std::to_string(index));
  const auto marked = [&cluster, before] {
    return Cluster::count(cluster.proxy, "PATCH /api/v1/nodes/n") > before;
  };
  ASSERT_TRUE(cluster.time.run_until(2min, marked));
  cluster.time.run(1s);
  int done = 0;
  for (int index = 0; index < lost; ++index) {
    const std::string name = "n" + std::to_string(index);
    const bool tainted = cluster.taints(name).starts_with("node.kubernetes.io/unreachable:NoSch");
    if (cluster.ready(name) == "Unknown" && tainted) ++done;
  }
  EXPECT_EQ(done, lost);
}

TEST(CloudService, IsReadyOnceItHasReceivedEverything) {
  Cluster cluster;
  cluster.add_node("a");
  cluster.proxy.set(cluster.time, FaultyProxy::State::black_hole);
  const auto replica = cluster.replica();
  const auto ready = [&replica] {
    const http::Request request{.target = "/readyz"};
    return (*replica)->endpoints().answer(request);
  };
  cluster.time.run(1s);
  EXPECT_EQ(ready().status, 500);
  EXPECT_EQ(ready().body,
            "[+]ping ok\n[-]caches failed: never received in full: nodes pods leases\n"
            "[+]watches ok\n[+]api-server-contact ok\nreadyz check failed\n");
  cluster.proxy.set(cluster.time, FaultyProxy::State::open);
  EXPECT_TRUE(cluster.time.run_until(1min, [&ready] { return ready().status == 200; }));
  cluster.proxy.set(cluster.time, FaultyProxy::State::refuse);
  EXPECT_TRUE(cluster.time.run_until(1min, [&ready] { return ready().status == 500; }));
  EXPECT_NE(ready().body.find("[-]api-server-contact failed: the API server does not answer"),
            std::string::npos);
}

TEST(CloudService, IsNotReadyWhileItsWatchesAreSilent) {
  Cluster cluster;
  cluster.add_node("a");
  const auto replica = cluster.replica();
  const auto ready = [&replica] {
    const http::Request request{.target = "/readyz"};
    return (*replica)->endpoints().answer(request);
  };
  EXPECT_TRUE(cluster.time.run_until(1min, [&ready] { return ready().status == 200; }));
  cluster.time.run(10min);
  EXPECT_EQ(ready().status, 200) << "bookmarks are news: " << ready().body;
  cluster.proxy.set(cluster.time, FaultyProxy::State::mute);
  cluster.time.run(2min);
  EXPECT_EQ(ready().status, 200) << ready().body;
  cluster.time.run(2min);
  EXPECT_NE(ready().body.find("[-]watches failed: no news for more than 3m0s: nodes pods leases\n"),
            std::string::npos)
      << ready().body;
  cluster.proxy.set(cluster.time, FaultyProxy::State::open);
  EXPECT_TRUE(cluster.time.run_until(15min, [&ready] { return ready().status == 200; }))
      << ready().body;
}

// The watch of the nodes delivers nothing any more when the node returns.
TEST(CloudService, AStaleWatchForcesNothing) {
  const std::string path = "/api/v1/nodes/a";
  const std::string pod = "/api/v1/namespaces/default/pods/p";
  const std::string type = "application/merge-patch+json";
  const std::string out_of_service =
      R"({"spec":{"taints":[{"key":"node.kubernetes.io/out-of-service","effect":"NoSchedule"}]}})";
  const std::string ready = R"({"status":{"conditions":[{"type":"Ready","status":"True"}]}})";
  const struct {
    const char* what;
    std::string target;
    std::string change;
    bool is_forced;
  } rows[] = {{"nothing changes", path, R"({"metadata":{"labels":{"x":"y"}}})", true},
              {"the taint is removed", path, R"({"spec":{"taints":[]}})", false},
              {"the node is Ready", path + "/status", ready, false}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    Cluster cluster;
    cluster.add_node("a");
    cluster.add_pod("p", "a", 3600);
    const auto replica = cluster.replica();
    cluster.time.run(10s);
    cluster.silence("a");
    (void)cluster.ask(http::Method::remove, pod);
    ASSERT_TRUE(cluster.time.run_until(2min, [&] { return cluster.ready("a") == "Unknown"; }));
    (void)cluster.ask(http::Method::patch, path, out_of_service, type);
    cluster.time.run(100ms);
    cluster.proxy.set(cluster.time, FaultyProxy::State::mute);
    (void)cluster.ask(http::Method::patch, row.target, row.change, type);
    cluster.proxy.asked.clear();
    cluster.time.run(2min);
    EXPECT_EQ(Cluster::count(cluster.proxy, "DELETE " + pod) > 0, row.is_forced);
    EXPECT_EQ(Cluster::count(cluster.proxy, "PATCH " + pod + "/status") > 0, row.is_forced);
    if (!row.is_forced) {
      EXPECT_EQ(Cluster::count(cluster.proxy, "GET " + path), 1u) << "the answer is remembered";
    }
  }
}

}  // namespace
}  // namespace holdfast::agent
