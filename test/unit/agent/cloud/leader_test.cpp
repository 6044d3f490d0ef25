// Two replicas of holdfast-cloud: one leads, the other follows the cluster and takes over.

#include "agent/cloud/leader.h"

#include "test/unit/agent/cloud/cluster.h"

namespace holdfast::agent {
namespace {

const std::string lease_path =
    "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/holdfast-cloud";
const std::string pods = "/api/v1/namespaces/default/pods";

class Leadership : public testing::Test {
 protected:
  Leadership() {
    for (const char* name : {"a", "b", "c", "d", "e"}) cluster.add_node(name);
  }

  std::unique_ptr<Replica> start(FaultyProxy& proxy, double qps = 1000) {
    CloudSettings settings = cluster.settings(proxy);
    settings.leader.elect = true;
    settings.requests.qps = qps;
    if (qps < 1000) settings.requests.burst = 1;
    return std::make_unique<Replica>(cluster.time, settings);
  }
  void start_both(double qps = 1000) {
    first = start(cluster.proxy, qps);
    cluster.time.run(1s);
    second = start(cluster.other_proxy, qps);
    cluster.time.run(30s);
    EXPECT_TRUE((*first)->leads());
    EXPECT_FALSE((*second)->leads());
  }

  // The number of writes at `proxy`, without those of the election (its lease and its events).
  static std::size_t writes(const FaultyProxy& proxy) {
    std::size_t found = 0;
    for (const std::string& line : proxy.asked) {
      const bool reads = line.starts_with("GET");
      const bool own = line.find("/namespaces/kube-system/") != std::string::npos;
      if (!reads && !own) ++found;
    }
    return found;
  }
  [[nodiscard]] auto deletions(const std::string& pod) const {
    const std::string line = "DELETE " + pods + "/" + pod;
    return std::count(cluster.proxy.asked.begin(), cluster.proxy.asked.end(), line) +
           std::count(cluster.other_proxy.asked.begin(), cluster.other_proxy.asked.end(), line);
  }

  // The time when the node's last taint was added, which is the NoExecute one.
  WallTime tainted_at(const std::string& node) {
    EXPECT_EQ(cluster.taints(node), lost_taints);
    return cluster.node(node).spec.taints.back().time_added.value_or(WallTime::max());
  }

  sync::Lease lease() {
    return sync::wire::decode_bytes<sync::Lease>(cluster.ask(http::Method::get, lease_path))
        .value();
  }

  Cluster cluster;
  std::unique_ptr<Replica> first;
  std::unique_ptr<Replica> second;
};

TEST_F(Leadership, AFollowerKeepsUpAndWritesNothing) {
  start_both();
  EXPECT_TRUE((*first)->lifecycle().has_started());
  EXPECT_TRUE((*second)->lifecycle().is_following());
  cluster.add_pod("p", "a");
  cluster.silence("a");
  EXPECT_TRUE(cluster.time.run_until(2min, [this] { return cluster.is_terminating("p"); }));
  cluster.time.run(1min);
  EXPECT_EQ(writes(cluster.other_proxy), 0u);
  EXPECT_EQ((*second)->controller().fleet().size(), 5u);
  EXPECT_EQ((*second)->controller().pods().size(), 1u);
  EXPECT_EQ(deletions("p"), 1);
  const sync::Lease held = lease();
  EXPECT_NE(held.spec.holder_identity.find('_'), std::string::npos);
  EXPECT_EQ(held.spec.lease_duration_seconds, 15);
  EXPECT_EQ(held.spec.lease_transitions, 0);
  EXPECT_LE(cluster.time.clock().wall() - *held.spec.renew_time, 2100ms);
}

TEST_F(Leadership, AnOrderlyStopHandsOverWithinTwoSeconds) {
  start_both();
  const std::string old = lease().spec.holder_identity;
  const MonoTime begin = cluster.time.clock().mono();
  first->stop();
  EXPECT_TRUE(cluster.time.run_until(10s, [this] { return (*second)->lifecycle().has_started(); }));
  EXPECT_LE(cluster.time.clock().mono() - begin, 500ms);
  EXPECT_TRUE((*first)->final_status());
  EXPECT_NE(lease().spec.holder_identity, old);
  EXPECT_EQ(lease().spec.lease_transitions, 1);
  const std::string events =
      cluster.ask(http::Method::get, "/api/v1/namespaces/kube-system/events");
  EXPECT_NE(events.find(R"("message":")" + old + R"( became leader")"), std::string::npos);
  EXPECT_NE(events.find(R"("message":")" + old + R"( stopped leading")"), std::string::npos);
  EXPECT_NE(events.find(R"("reason":"LeaderElection")"), std::string::npos);
}

// If the last writes are never answered, a stop may take longer, but at most 2 s.
TEST_F(Leadership, AStopDoesNotWaitForAnswersThatNeverCome) {
  start_both();
  cluster.add_pod("p", "a");
  cluster.silence("a");
  EXPECT_TRUE(cluster.time.run_until(2min, [this] { return cluster.ready("a") == "Unknown"; }));
  cluster.proxy.set(cluster.time, FaultyProxy::State::black_hole);
  const MonoTime begin = cluster.time.clock().mono();
  first->stop();
  EXPECT_LE(cluster.time.clock().mono() - begin, 2s);
}

// Closing the proxy stops all requests of the leader in the middle of a wave of evictions, as
// kill -9 would. The new leader evicts each remaining pod once and not before its time.
TEST_F(Leadership, AKilledLeadersWaveIsFinishedOnceAndNotTooEarly) {
  for (int index = 0; index < 40; ++index) {
    cluster.add_pod("p" + std::to_string(index), index % 2 == 0 ? "a" : "b", 30);
  }
  start_both(4);
  cluster.silence("a");
  cluster.silence("b");
  const auto some = [this] { return Cluster::count(cluster.proxy, "DELETE") >= 5; };
  ASSERT_TRUE(cluster.time.run_until(10min, some));
  cluster.proxy.set(cluster.time, FaultyProxy::State::refuse);
  const WallTime tainted[] = {tainted_at("a"), tainted_at("b")};
  const std::size_t before = Cluster::count(cluster.proxy, "DELETE");
  EXPECT_LT(before, 20u);
  const MonoTime killed = cluster.time.clock().mono();
  EXPECT_TRUE(
      cluster.time.run_until(1min, [this] { return (*second)->lifecycle().has_started(); }));
  // The lease lasts 15 s. The follower may have seen its last renewal up to 4.4 s late, and may try
  // to take it up to 4.4 s after it has expired.
  EXPECT_LE(cluster.time.clock().mono() - killed, 24s);
  const auto all = [this, before] {
    return before + Cluster::count(cluster.other_proxy, "DELETE") >= 40;
  };
  EXPECT_TRUE(cluster.time.run_until(10min, all));
  cluster.time.run(2min);
  for (int index = 0; index < 40; ++index) {
    const std::string name = "p" + std::to_string(index);
    EXPECT_EQ(deletions(name), 1) << index;
    const std::string body = cluster.ask(http::Method::get, pods + "/" + name);
    const auto pod = sync::wire::decode_bytes<sync::Pod>(body);
    ASSERT_TRUE(pod && pod->metadata.deletion_timestamp);
    const WallTime deleted = *pod->metadata.deletion_timestamp -
                             std::chrono::seconds(*pod->metadata.deletion_grace_period_seconds);
    EXPECT_GE(deleted, tainted[index % 2] + 30s) << index;
  }
}

TEST_F(Leadership, ALeaderWhoIsCutOffEndsItself) {
  start_both();
  cluster.proxy.set(cluster.time, FaultyProxy::State::black_hole);
  EXPECT_TRUE(cluster.time.run_until(13s, [this] { return first->gave_up; }));
  const Status final_status = (*first)->final_status();
  ASSERT_FALSE(final_status);
  EXPECT_TRUE(final_status.error().what.starts_with("leader election lost: not renewed within 10s"))
      << final_status.error().what;
  EXPECT_FALSE((*first)->leads());
  cluster.proxy.set(cluster.time, FaultyProxy::State::open);
  const std::size_t before = writes(cluster.proxy);
  cluster.silence("a");
  EXPECT_TRUE(cluster.time.run_until(3min, [this] { return cluster.ready("a") == "Unknown"; }));
  EXPECT_EQ(writes(cluster.proxy), before) << "it is over";
  EXPECT_GT(writes(cluster.other_proxy), 0u);
}

TEST_F(Leadership, WhoseLeaseIsTakenEndsAtOnce) {
  start_both();
  cluster.ask(http::Method::patch, lease_path,
              R"({"spec":{"holderIdentity":"somebody","leaseDurationSeconds":15}})",
              "application/merge-patch+json");
  EXPECT_TRUE(cluster.time.run_until(3s, [this] { return first->gave_up; }));
  EXPECT_EQ((*first)->final_status().error().what,
            "leader election lost: the lease is held by somebody");
}

// The watches of a replica do not notice older data, so it starts anew, whether it leads or not.
TEST_F(Leadership, OlderDataEndsBothReplicas) {
  start_both();
  // All versions in answers become 1.
  for (FaultyProxy* each : {&cluster.proxy, &cluster.other_proxy}) {
    each->spoil = {R"("resourceVersion":")", R"("resourceVersion":"1","version":")"};
  }
  EXPECT_TRUE(cluster.time.run_until(10s, [this] { return first->gave_up && second->gave_up; }));
  for (const auto* replica : {&first, &second}) {
    const std::string why = (**replica)->final_status().error().what;
    EXPECT_TRUE(why.starts_with("the API server's versions went back from ")) << why;
    EXPECT_TRUE(why.ends_with(" to 1: its data was replaced by older data")) << why;
    EXPECT_FALSE((**replica)->leads());
  }
}

}  // namespace
}  // namespace holdfast::agent
