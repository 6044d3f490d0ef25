// Faults around holdfast-cloud, in virtual time: none of them may cost healthy nodes their pods.

#include "test/unit/agent/cloud/cluster.h"

namespace holdfast::agent {
namespace {

class CloudServiceFailure : public testing::Test {
 protected:
  CloudServiceFailure() {
    for (const char* name : {"a", "b", "c"}) cluster.add_node(name);
    cluster.add_pod("p", "a");
    replica = cluster.replica();
    cluster.time.run(30s);  // removes the taint that admission gave to the new nodes
    quiet_ = Cluster::count(cluster.proxy, "PATCH /api/v1/nodes/");
  }

  void expect_all_well() {
    for (const char* name : {"a", "b", "c"}) {
      EXPECT_EQ(cluster.ready(name), "True") << name;
      EXPECT_EQ(cluster.taints(name), "") << name;
    }
    EXPECT_FALSE(cluster.is_terminating("p"));
    EXPECT_EQ(Cluster::count(cluster.proxy, "PATCH /api/v1/nodes/"), quiet_);
    EXPECT_EQ(Cluster::count(cluster.proxy, "DELETE"), 0u);
  }

  // Checks that a node that is really silent is still detected and its pod evicted.
  void expect_a_is_noticed() {
    cluster.silence("a");
    EXPECT_TRUE(cluster.time.run_until(3min, [this] { return cluster.is_terminating("p"); }));
    EXPECT_EQ(cluster.taints("a"), lost_taints);
    EXPECT_EQ(cluster.ready("b"), "True");
  }

  Cluster cluster;
  std::unique_ptr<Replica> replica;

 private:
  std::size_t quiet_ = 0;
};

TEST_F(CloudServiceFailure, TheApiServersAbsenceIsNobodysDeath) {
  using enum FaultyProxy::State;
  const std::vector<std::pair<FaultyProxy::State, Duration>> absences{{refuse, 10min},
                                                                      {black_hole, 10min},
                                                                      {black_hole, 35s},
                                                                      {overloaded, 10min},
                                                                      {overloaded, 35s}};
  for (const auto& [away, duration] : absences) {
    SCOPED_TRACE(static_cast<int>(away));
    cluster.renewing = false;
    cluster.proxy.set(cluster.time, away);
    cluster.time.run(duration);
    cluster.proxy.set(cluster.time, FaultyProxy::State::open);
    cluster.time.run(15s);
    cluster.renewing = true;  // the kubelets renew only some time after the server has returned
    cluster.time.run(3min);
    expect_all_well();
  }
  expect_a_is_noticed();
}

// An overloaded API server rejects the kubelets' renewals, too, while its open watches still
// deliver events.
TEST_F(CloudServiceFailure, EventsOfAnOverloadedApiServerAreNobodysDeath) {
  cluster.renewing = false;
  cluster.proxy.set(cluster.time, FaultyProxy::State::overloaded);
  for (int event = 0; event < 5; ++event) {
    cluster.time.run(7s);
    cluster.annotate("b", "example.com/event", std::to_string(event));
  }
  cluster.proxy.set(cluster.time, FaultyProxy::State::open);
  cluster.time.run(15s);
  cluster.renewing = true;
  cluster.time.run(3min);
  expect_all_well();
  expect_a_is_noticed();
}

// The nodes reach the API server, holdfast-cloud does not.
TEST_F(CloudServiceFailure, OurOwnIsolationIsNobodysDeath) {
  cluster.proxy.set(cluster.time, FaultyProxy::State::refuse);
  cluster.time.run(10min);
  cluster.proxy.set(cluster.time, FaultyProxy::State::open);
  cluster.time.run(3min);
  expect_all_well();
  expect_a_is_noticed();
}

// Requests are answered, but the watches deliver no events: the controller reads a node's lease
// before it marks the node.
TEST_F(CloudServiceFailure, AWatchThatIsSilentlyDeadKillsNobody) {
  cluster.proxy.set(cluster.time, FaultyProxy::State::mute);
  cluster.time.run(20min);
  expect_all_well();
  cluster.proxy.set(cluster.time, FaultyProxy::State::open);
  cluster.time.run(1min);
  expect_a_is_noticed();
}

TEST_F(CloudServiceFailure, AfterForgottenHistoryEverythingIsListedAgain) {
  cluster.proxy.set(cluster.time, FaultyProxy::State::refuse);
  cluster.add_node("d");
  cluster.remove_node("c");
  cluster.forget_history();
  cluster.proxy.set(cluster.time, FaultyProxy::State::open);
  cluster.time.run(2min);
  EXPECT_EQ((*replica)->controller().fleet().size(), 3u);
  EXPECT_NE((*replica)->controller().fleet().node("d"), nullptr);
  EXPECT_EQ((*replica)->controller().fleet().node("c"), nullptr);
  EXPECT_EQ(cluster.ready("d"), "True");
  expect_a_is_noticed();
}

TEST_F(CloudServiceFailure, ANodeMadeAnewIsAnotherOne) {
  cluster.silence("a");
  EXPECT_TRUE(cluster.time.run_until(2min, [this] { return cluster.ready("a") == "Unknown"; }));
  cluster.remove_node("a");
  cluster.add_node("a");
  cluster.time.run(3min);
  EXPECT_EQ(cluster.ready("a"), "True");
  EXPECT_EQ(cluster.taints("a"), "");
  cluster.silence("a");
  EXPECT_TRUE(cluster.time.run_until(2min, [this] { return cluster.ready("a") == "Unknown"; }));
}

// The wall clock of the controller and of the API server jumps; the nodes' clock does not.
TEST_F(CloudServiceFailure, TheCalendarMayJump) {
  for (const Duration jump : std::vector<Duration>{1h, -24h, 24h * 400, -24h * 376, -10min}) {
    cluster.time.clock().jump_wall(jump);
    cluster.time.run(2min);
  }
  expect_all_well();
  const MonoTime silent = cluster.time.clock().mono();
  cluster.silence("a");
  cluster.time.clock().jump_wall(-1h);
  EXPECT_TRUE(cluster.time.run_until(2min, [this] { return cluster.ready("a") == "Unknown"; }));
  EXPECT_GE(cluster.time.clock().mono() - silent, 40s);
  EXPECT_LE(cluster.time.clock().mono() - silent, 61s);
}

TEST_F(CloudServiceFailure, ABillionSecondsAreLong) {
  cluster.add_pod("patient", "a", 1'000'000'000);
  cluster.add_pod("eternal", "a", INT64_MAX);
  cluster.silence("a");
  EXPECT_TRUE(cluster.time.run_until(3min, [this] { return cluster.is_terminating("p"); }));
  cluster.time.run(15min);
  EXPECT_FALSE(cluster.is_terminating("patient"));
  EXPECT_FALSE(cluster.is_terminating("eternal"));
  EXPECT_EQ((*replica)->controller().eviction().running_timers(), 2u);
}

TEST_F(CloudServiceFailure, TenThousandTaintsAreKept) {
  std::string taints;
  for (int index = 0; index < 10'000; ++index) {
    taints += (index == 0 ? "" : ",") + std::string(R"({"key":"k)") + std::to_string(index) +
              R"(","effect":")" + (index % 2 == 0 ? "NoSchedule" : "PreferNoSchedule") + R"("})";
  }
  cluster.ask(http::Method::patch, "/api/v1/nodes/a", R"({"spec":{"taints":[)" + taints + "]}}",
              "application/merge-patch+json");
  cluster.silence("a");
  EXPECT_TRUE(cluster.time.run_until(3min, [this] { return cluster.is_terminating("p"); }));
  EXPECT_EQ(cluster.node("a").spec.taints.size(), 10'002u);
}

TEST_F(CloudServiceFailure, MalformedObjectsAreCountedAndSkipped) {
  cluster.proxy.spoil = {"spoil-me", "\xffpoil-me"};
  cluster.add_node("odd");
  for (int index = 0; index < 3; ++index) {
    cluster.ask(http::Method::patch, "/api/v1/nodes/odd",
                R"({"spec":{"providerID":"spoil-me"},"metadata":{"labels":{"n":")" +
                    std::to_string(index) + R"("}}})",
                "application/merge-patch+json");
  }
  cluster.time.run(5s);
  const http::Request request{.target = "/metrics"};
  const std::string text = (*replica)->endpoints().answer(request).body;
  EXPECT_NE(text.find("holdfast_malformed_objects_total{kind=\"Node\"} 3\n"), std::string::npos)
      << text;
  EXPECT_NE((*replica)->controller().fleet().node("odd"), nullptr) << "as it was before";
  expect_a_is_noticed();
}

}  // namespace
}  // namespace holdfast::agent
