#include "agent/lab/hollow/objects.h"

#include "sync/wire/codec.h"

namespace holdfast::agent::hollow {
namespace {

using namespace std::chrono_literals;

constexpr WallTime some_time{std::chrono::seconds(1'700'000'000)};

template <class T>
T decoded(const std::string& body) {
  auto object = sync::wire::decode_bytes<T>(body);
  EXPECT_TRUE(object) << (object ? "" : object.error().what);
  return *std::move(object);
}

Plan small_plan() {
  Plan plan;
  plan.nodes = {"edge-0", "edge-1", "edge-2"};
  plan.zones = {"east", "west"};
  plan.labels = {{"tier", "edge"}};
  sync::Taint taint;
  taint.key = "hollow";
  taint.effect = "NoSchedule";
  plan.taints = {taint};
  return plan;
}

std::string condition_status(const sync::NodeStatus& status, std::string_view type) {
  for (const auto& each : status.conditions) {
    if (each.type == type) return each.status;
  }
  return "";
}

TEST(HollowObjects, ANodeIsRegisteredHealthy) {
  const auto node = decoded<sync::Node>(node_body(small_plan(), 1, some_time));
  EXPECT_EQ(node.metadata.name, "edge-1");
  EXPECT_EQ(node.metadata.labels.get("topology.kubernetes.io/zone"), "west");
  EXPECT_EQ(node.metadata.labels.get("kubernetes.io/hostname"), "edge-1");
  EXPECT_EQ(node.metadata.labels.get("tier"), "edge");
  EXPECT_TRUE(node.metadata.labels.has(hollow_label));
  ASSERT_EQ(node.spec.taints.size(), 1U);
  EXPECT_EQ(node.status.conditions.size(), 4U);
  EXPECT_EQ(condition_status(node.status, "Ready"), "True");
  for (const char* pressure : {"MemoryPressure", "DiskPressure", "PIDPressure"}) {
    EXPECT_EQ(condition_status(node.status, pressure), "False") << pressure;
  }
}

TEST(HollowObjects, OnlyAChangedConditionHasANewTransition) {
  sync::NodeStatus current = decoded<sync::Node>(node_body(small_plan(), 0, some_time)).status;
  for (auto& condition : current.conditions) {
    if (condition.type == "Ready") condition.status = "Unknown";
  }
  const WallTime later = some_time + 1h;
  const auto posted = decoded<sync::Node>(node_status_patch(current, later)).status;
  ASSERT_EQ(posted.conditions.size(), 4U);
  for (const auto& condition : posted.conditions) {
    EXPECT_EQ(condition.last_heartbeat_time, later) << condition.type;
    const WallTime since = condition.type == "Ready" ? later : some_time;
    EXPECT_EQ(condition.last_transition_time, since) << condition.type;
  }
}

TEST(HollowObjects, ALeaseBelongsToItsNode) {
  const auto lease = decoded<sync::Lease>(lease_body(
      {.node = "edge-1", .node_uid = "u", .version = "17", .duration_seconds = 40}, some_time));
  EXPECT_EQ(lease.metadata.namespace_name, "kube-node-lease");
  EXPECT_EQ(lease.metadata.resource_version, "17");
  ASSERT_EQ(lease.metadata.owner_references.size(), 1U);
  EXPECT_EQ(lease.metadata.owner_references[0].kind, "Node");
  EXPECT_EQ(lease.metadata.owner_references[0].uid, "u");
  EXPECT_EQ(lease.spec.holder_identity, "edge-1");
  EXPECT_EQ(lease.spec.lease_duration_seconds, 40);
  EXPECT_EQ(lease.spec.renew_time, some_time);
}

HollowPod pod_with_init() {
  using Kind = PodContainer::Kind;
  HollowPod pod;
  pod.uid = "u1";
  pod.address = 5;
  pod.containers = {{Kind::init, "setup", "busybox"},
                    {Kind::sidecar, "proxy", "envoy"},
                    {Kind::main, "main", "nginx"}};
  return pod;
}

TEST(HollowObjects, ARunningPodIsReady) {
  const auto pod = decoded<sync::Pod>(pod_status_patch(pod_with_init(), false, some_time));
  EXPECT_EQ(pod.metadata.uid, "u1");
  EXPECT_EQ(pod.status.phase, "Running");
  EXPECT_EQ(pod.status.pod_ip, "100.64.0.5");
  EXPECT_EQ(pod.status.host_ip, "198.18.0.1");
  for (const auto& condition : pod.status.conditions) {
    EXPECT_EQ(condition.status, "True") << condition.type;
  }
  ASSERT_EQ(pod.status.container_statuses.size(), 1U);
  EXPECT_EQ(pod.status.container_statuses[0].name, "main");
  EXPECT_TRUE(pod.status.container_statuses[0].ready);
  ASSERT_EQ(pod.status.init_container_statuses.size(), 2U);
}

TEST(HollowObjects, ASucceededPodIsNotReady) {
  HollowPod pod = pod_with_init();
  pod.started = some_time - 1min;
  const auto posted = decoded<sync::Pod>(pod_status_patch(pod, true, some_time));
  EXPECT_EQ(posted.status.phase, "Succeeded");
  EXPECT_EQ(posted.status.start_time, some_time - 1min);
  for (const auto& condition : posted.status.conditions) {
    const bool ready = condition.type == "Ready" || condition.type == "ContainersReady";
    EXPECT_EQ(condition.status, ready ? "False" : "True") << condition.type;
  }
  EXPECT_FALSE(posted.status.container_statuses[0].ready);
}

TEST(HollowObjects, AddressesStayInTheirNetworks) {
  EXPECT_EQ(node_address(0), "198.18.0.1");
  EXPECT_EQ(node_address(99'999), "198.19.134.160");
  EXPECT_EQ(pod_address(1U << 22U), "100.64.0.0");
}

}  // namespace
}  // namespace holdfast::agent::hollow
