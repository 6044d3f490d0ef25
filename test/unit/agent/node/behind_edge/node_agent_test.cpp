// A NodeAgent in virtual time as a client of an edge agent over loopback. The edge agent's link to
// its cloud can be cut.

#include "agent/node/node_agent.h"

#include <gtest/gtest.h>

#include <fstream>

#include "agent/edge/admin/endpoints.h"
#include "test/support/certificates.h"
#include "test/unit/agent/edge/uplink/uplink_fixture.h"
#include "test/unit/agent/node/behind_edge/fake_runtime.h"

namespace holdfast::agent::node {
namespace {

using namespace std::chrono_literals;
using sync::autonomy::LinkState;
using Lines = std::vector<std::string>;

constexpr const char* pods = "/api/v1/namespaces/a/pods";

class FakePressure final : public Pressure {
 public:
  explicit FakePressure(const std::vector<std::string>& conditions) : conditions_(conditions) {}
  [[nodiscard]] std::vector<std::string> conditions() const override { return conditions_; }

 private:
  const std::vector<std::string>& conditions_;
};

// A pod of one container, with these members of the container besides: R"(,"resources":{})".
std::string pod_body(const std::string& more = "") {
  return R"({"spec":{"nodeName":"edge1","restartPolicy":"Always","containers":)"
         R"([{"name":"main","image":"i","command":["run"])" +
         more + R"(}]},"status":{"phase":"Pending"}})";
}

const std::string from_config_map =
    R"(,"env":[{"name":"TEXT","valueFrom":{"configMapKeyRef":{"name":"words","key":"text"}}}])";

class NodeBehindEdge : public testing::Test {
 protected:
  NodeBehindEdge() {
    // Requests take some time: the edge agent distinguishes lists by their times.
    fixture.servers[0]->latency = 20ms;
    fixture.cloud.put("/api/v1/namespaces/a/configmaps", "words", R"({"data":{"text":"hello"}})");
  }
  ~NodeBehindEdge() override { stop_node(); }

  void start_node() {
    NodeOptions options;
    options.node_name = "edge1";
    options.data_dir = (scratch.path() / "node").string();
    options.server = "http://" + read_endpoints(fixture.options.data_dir).value().proxy.text();
    set_options(options);
    NodeAgentDependencies parts;
    parts.make_runtime = [this](const asio::any_io_executor&, const StateDir&) {
      return std::make_unique<test::FakeRuntime>(containers, fixture.time.clock());
    };
    parts.pressure = std::make_unique<FakePressure>(pressure);
    auto made =
        NodeAgent::make(fixture.time.executor(), options, fixture.time.clock(), std::move(parts));
    ASSERT_TRUE(made) << made.error().what;
    node = *std::move(made);
    ASSERT_TRUE(node->start());
  }
  void stop_node() {
    if (!node) return;
    fixture.time.complete(node->stop(fixture.time.clock().mono() + 5s));
    node.reset();
  }
  // Simulates a reboot of the machine: no container runs any more.
  void reboot() {
    stop_node();
    containers = {};
    fixture.stop();
    fixture.start();
    start_node();
  }
  bool until(const std::function<bool()>& done, Duration limit = 60s) {
    return fixture.time.run_until(limit, done);
  }
  [[nodiscard]] bool is_running(const std::string& pod) {
    const auto found = containers.observed.find("uid-" + pod);
    if (found == containers.observed.end() || !found->second.contains("main")) return false;
    return found->second.at("main").back().state == sync::runtime::AttemptState::running;
  }
  // The cloud's copy of a pod or of the node.
  [[nodiscard]] std::string in_cloud(const std::string& collection, const std::string& name) {
    return fixture.cloud.object(collection, name);
  }
  [[nodiscard]] bool cloud_shows(const std::string& collection, const std::string& name,
                                 const std::string& text) {
    return in_cloud(collection, name).find(text) != std::string::npos;
  }

  uplink::UplinkFixture fixture{{.set = [](EdgeOptions& options) {
    options.cache_agents = {"holdfast-node"};
    options.kubelet_grace = 40s;
  }}};
  std::function<void(NodeOptions&)> set_options = [](NodeOptions&) {};
  holdfast::test::ScratchDir scratch;
  test::FakeContainers containers;
  std::vector<std::string> pressure;
  std::unique_ptr<NodeAgent> node;
};

TEST_F(NodeBehindEdge, PostsTheNodesStatus) {
  start_node();
  EXPECT_TRUE(until([this] {
    return cloud_shows("/api/v1/nodes", "edge1", R"("reason":"KubeletReady")");
  })) << in_cloud("/api/v1/nodes", "edge1");
  EXPECT_TRUE(cloud_shows("/api/v1/nodes", "edge1", R"("containerRuntimeVersion":"fake://1")"));
  EXPECT_TRUE(cloud_shows("/api/v1/nodes", "edge1", "KubeletHasSufficientMemory"));
}

TEST_F(NodeBehindEdge, TheNodeSaysWhereLogsAreServedOrAdvertised) {
  const holdfast::test::Authority authority("kubelet clients");
  const std::string ca = (scratch.path() / "ca.pem").string();
  std::ofstream(ca) << authority.certificate_pem();
  const struct {
    std::string advertise;
    std::string port;
    std::string address;
  } rows[] = {{"", R"("Port":10250)", "127.0.0.1"},
              {"192.0.2.7:30250", R"("Port":30250)", "192.0.2.7"}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.port);
    set_options = [&](NodeOptions& options) {
      options.client_ca_file = ca;
      options.kubelet_advertise = row.advertise;
    };
    start_node();
    EXPECT_TRUE(until([&] { return cloud_shows("/api/v1/nodes", "edge1", row.port); }))
        << in_cloud("/api/v1/nodes", "edge1");
    EXPECT_TRUE(cloud_shows("/api/v1/nodes", "edge1", R"("daemonEndpoints")"));
    EXPECT_TRUE(cloud_shows("/api/v1/nodes", "edge1", "\"" + row.address + "\""))
        << in_cloud("/api/v1/nodes", "edge1");
    stop_node();
  }
}

TEST_F(NodeBehindEdge, RunsAPodWithItsConfigurationAndReportsIt) {
  start_node();
  fixture.cloud.put(pods, "p", pod_body(from_config_map));
  EXPECT_TRUE(until([this] { return is_running("p"); }));
  EXPECT_TRUE(until([this] { return cloud_shows(pods, "p", R"("phase":"Running")"); }))
      << in_cloud(pods, "p");
  const auto& env = containers.plans.at("p/main").env;
  EXPECT_NE(std::find(env.begin(), env.end(), "TEXT=hello"), env.end());
}

TEST_F(NodeBehindEdge, AConfigMapThatComesLaterStartsThePod) {
  fixture.cloud.remove("/api/v1/namespaces/a/configmaps", "words");
  start_node();
  fixture.cloud.put(pods, "p", pod_body(from_config_map));
  EXPECT_FALSE(until([this] { return is_running("p"); }, 30s));
  fixture.cloud.put("/api/v1/namespaces/a/configmaps", "words", R"({"data":{"text":"late"}})");
  EXPECT_TRUE(until([this] { return is_running("p"); }, 15s));
}

TEST_F(NodeBehindEdge, APodThatIsGoneStops) {
  start_node();
  fixture.cloud.put(pods, "p", pod_body());
  ASSERT_TRUE(until([this] { return is_running("p"); }));
  fixture.cloud.remove(pods, "p");
  EXPECT_TRUE(until([this] { return containers.observed.empty(); }));
  EXPECT_EQ(containers.log, (Lines{"start p/main", "stop uid-p/main", "forget uid-p"}));
}

TEST_F(NodeBehindEdge, AfterARebootOfflineThePodsAreBackAtOnce) {
  start_node();
  fixture.cloud.put(pods, "p", pod_body(from_config_map));
  ASSERT_TRUE(until([this] { return cloud_shows(pods, "p", R"("phase":"Running")"); }));
  ASSERT_TRUE(until([] { return false; }, 5s) == false) << "wait until the cache is written";
  fixture.cut_link();
  reboot();
  const MonoTime began = fixture.time.clock().mono();
  EXPECT_TRUE(until([this] { return is_running("p"); }));
  EXPECT_LT(fixture.time.clock().mono() - began, 1700ms);
  EXPECT_EQ(containers.log, Lines{"start p/main"});
}

// But for those that need what the edge agent knows.
TEST_F(NodeBehindEdge, AfterARebootWithoutTheEdgeAgentThePodsAreBack) {
  start_node();
  fixture.cloud.put(pods, "p", pod_body());
  fixture.cloud.put(pods, "q", pod_body(from_config_map));
  for (const char* name : {"p", "q"}) {
    ASSERT_TRUE(until([this, name] { return cloud_shows(pods, name, R"("phase":"Running")"); }));
  }
  stop_node();
  containers = {};
  fixture.stop();
  start_node();
  EXPECT_TRUE(until([this] { return is_running("p"); }));
  EXPECT_FALSE(until([this] { return is_running("q"); }));
  fixture.start();
  stop_node();  // the edge agent has another port now
  start_node();
  EXPECT_TRUE(until([this] { return is_running("q"); }));
  EXPECT_EQ(containers.log, (Lines{"start p/main", "start q/main"}));
}

TEST_F(NodeBehindEdge, WithoutTheEdgeAgentPodsRunOnAndAreAdopted) {
  start_node();
  fixture.cloud.put(pods, "p", pod_body());
  ASSERT_TRUE(until([this] { return is_running("p"); }));
  fixture.stop();
  EXPECT_FALSE(until([this] { return !is_running("p"); }, 10min));
  stop_node();
  fixture.start();
  start_node();
  EXPECT_EQ(node->workers().pods(), 1U);
  EXPECT_FALSE(until([this] { return !is_running("p"); }, 1min));
  EXPECT_EQ(containers.log, Lines{"start p/main"});
}

TEST_F(NodeBehindEdge, WhatChangedWhileTheEdgeAgentWasAwayIsNoticed) {
  start_node();
  fixture.cloud.put(pods, "p", pod_body());
  ASSERT_TRUE(until([this] { return is_running("p"); }));
  const std::uint16_t port = fixture.edge->port();
  fixture.stop();
  fixture.cloud.remove(pods, "p");
  fixture.cloud.put(pods, "q", pod_body());
  fixture.options.listen = "127.0.0.1:" + std::to_string(port);
  fixture.start();
  EXPECT_TRUE(until([this] { return is_running("q") && !is_running("p"); }));
}

TEST_F(NodeBehindEdge, TheLeaseIsRenewedForAsLongAsTheNodeAgentLives) {
  start_node();
  EXPECT_FALSE(until([] { return false; }, 3min));
  const std::size_t alive = fixture.cloud.renewals.size();
  EXPECT_GE(alive, 15U);
  stop_node();
  EXPECT_FALSE(until([] { return false; }, 1min));
  const std::size_t dead = fixture.cloud.renewals.size();
  EXPECT_FALSE(until([] { return false; }, 3min));
  EXPECT_EQ(fixture.cloud.renewals.size(), dead)
      << "the edge agent renews the lease of a dead node";
  start_node();
  EXPECT_TRUE(until([this, dead] { return fixture.cloud.renewals.size() > dead; }, 30s));
}

TEST_F(NodeBehindEdge, UnderPressureNewPodsAreRefusedAndOldOnesRunOn) {
  start_node();
  fixture.cloud.put(pods, "old", pod_body());
  ASSERT_TRUE(until([this] { return is_running("old"); }));
  pressure = {"MemoryPressure"};
  fixture.cloud.put(pods, "small", pod_body());
  fixture.cloud.put(pods, "sized", pod_body(R"(,"resources":{"requests":{"memory":"1Mi"}})"));
  EXPECT_TRUE(until([this] { return is_running("sized"); }));
  EXPECT_TRUE(until([this] { return cloud_shows(pods, "small", R"("phase":"Failed")"); }));
  EXPECT_TRUE(cloud_shows(pods, "small", R"("reason":"Evicted")")) << in_cloud(pods, "small");
  EXPECT_TRUE(
      cloud_shows(pods, "small", "Pod was rejected: The node had condition: [MemoryPressure]. "));
  EXPECT_TRUE(until(
      [this] { return cloud_shows("/api/v1/nodes", "edge1", "KubeletHasInsufficientMemory"); }));
  pressure = {};
  EXPECT_TRUE(until(
      [this] { return !cloud_shows("/api/v1/nodes", "edge1", "KubeletHasInsufficientMemory"); }));
  EXPECT_FALSE(until([this] { return is_running("small"); }, 1min)) << "a refusal is final";
  EXPECT_TRUE(is_running("old"));
}

}  // namespace
}  // namespace holdfast::agent::node
