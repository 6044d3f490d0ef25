// RunRecorder: what was observed, in the scenario's time.

#include "agent/lab/run/recorder.h"

#include "test/support/virtual_time.h"

namespace holdfast::agent::lab::run {
namespace {

using namespace std::chrono_literals;

Scenario scenario_of_two_sites() {
  Scenario scenario;
  scenario.name = "s";
  scenario.sites = {{.name = "a", .nodes = 1, .zone = "a"},
                    {.name = "b",
                     .nodes = 2,
                     .zone = "b",
                     .taints = {{.key = "act", .value = "second", .effect = "NoSchedule"}}}};
  scenario.workloads = {{.kind = WorkloadKind::deployment, .name = "web", .replicas = 1},
                        {.kind = WorkloadKind::daemon_set, .name = "probe"}};
  return scenario;
}

sync::Pod pod_of(const std::string& uid, const std::string& owner, const std::string& kind,
                 const std::string& node) {
  sync::Pod pod;
  pod.metadata.name = owner + "-" + uid;
  pod.metadata.namespace_name = "default";
  pod.metadata.uid = uid;
  sync::OwnerReference reference;
  reference.kind = kind;
  reference.name = owner;
  reference.controller = true;
  pod.metadata.owner_references.push_back(std::move(reference));
  pod.spec.node_name = node;
  return pod;
}

sync::Node node_of(const std::string& name, const std::string& ready, const std::string& taint) {
  sync::Node node;
  node.metadata.name = name;
  sync::NodeCondition condition;
  condition.type = "Ready";
  condition.status = ready;
  node.status.conditions.push_back(std::move(condition));
  if (!taint.empty()) {
    sync::Taint added;
    added.key = taint;
    added.effect = "NoExecute";
    node.spec.taints.push_back(std::move(added));
  }
  return node;
}

cluster::ContainerProcess container(const std::string& uid, int attempt) {
  return {.pod_uid = uid, .container = "main", .attempt = attempt, .shim = {}, .process = {}};
}

class LabRecorder : public testing::Test {
 protected:
  test::VirtualClock clock_;
  Scenario scenario_ = scenario_of_two_sites();
  std::vector<std::string> said_;
  RunRecorder recorder_{scenario_, 10, clock_, [this](Duration at, const std::string& what) {
                          said_.push_back(format_duration(at) + " " + what);
                        }};
};

TEST_F(LabRecorder, MeasuresInTheScenariosTime) {
  recorder_.node_seen(node_of("a-1", "True", ""));
  EXPECT_FALSE(recorder_.is_fleet_ready()) << "two nodes were not seen";
  recorder_.node_seen(node_of("b-1", "True", ""));
  recorder_.node_seen(node_of("b-2", "True", "node.kubernetes.io/not-ready"));
  EXPECT_FALSE(recorder_.is_fleet_ready()) << "one is tainted";
  recorder_.node_seen(node_of("b-2", "True", ""));
  EXPECT_TRUE(recorder_.is_fleet_ready());

  recorder_.pods_listed(
      {pod_of("1", "web-5f7c", "ReplicaSet", "a-1"), pod_of("2", "probe", "DaemonSet", "a-1")});
  const std::vector<std::string> both = {"daemonset/probe", "deployment/web"};
  EXPECT_EQ(recorder_.incomplete(), both);
  recorder_.containers_are("a-1", {container("1", 0), container("2", 0)});
  EXPECT_TRUE(recorder_.incomplete().empty()) << "site b has a taint that probe does not tolerate";

  clock_.advance(5s);
  recorder_.begin();
  clock_.advance(6s);
  recorder_.node_seen(node_of("a-1", "Unknown", "node.kubernetes.io/unreachable"));
  recorder_.containers_are("a-1", {container("2", 0)});
  clock_.advance(1s);
  recorder_.containers_are("a-1", {container("1", 2), container("2", 0)});
  sync::Event event;
  event.reason = "TaintManagerEviction";
  event.message = "Cancelling deletion of Pod default/web-5f7c-1";
  event.involved_object.uid = "1";
  recorder_.event_seen(event);
  sync::Pod going = pod_of("1", "web-5f7c", "ReplicaSet", "a-1");
  going.metadata.deletion_timestamp = clock_.wall();
  recorder_.pod_seen(going, false);
  event.message = "Marking for deletion Pod default/web-5f7c-1";
  recorder_.event_seen(event);
  clock_.advance(1s);
  recorder_.containers_are("a-1", {container("2", 0)});
  recorder_.pod_seen(going, true);
  clock_.advance(2s);

  const RunResult result = recorder_.finish({{"a-1", 4000}});
  EXPECT_EQ(result.duration, 100s);
  ASSERT_EQ(result.nodes.size(), 3u);
  EXPECT_EQ(result.nodes[0].bytes, 4000u);
  const std::vector<Span> ready = {{0s, 60s, "True"}, {60s, 100s, "Unknown"}};
  EXPECT_EQ(result.nodes[0].ready, ready);
  const std::vector<Span> tainted = {{60s, 100s, "unreachable"}};
  EXPECT_EQ(result.nodes[0].taints, tainted);
  ASSERT_EQ(result.pods.size(), 2u);
  const PodResult& web = result.pods[0];
  EXPECT_EQ(web.workload, "deployment/web");
  EXPECT_EQ(web.evicted, 70s) << "the event came after the deletion";
  EXPECT_EQ(web.deleted, 80s);
  EXPECT_EQ(web.restarts, 2) << "one attempt was too short to be seen";
  const std::vector<Span> running = {{0s, 60s, "ready"}, {70s, 80s, "ready"}};
  EXPECT_EQ(web.running, running);
  ASSERT_EQ(result.workloads.size(), 2u);
  EXPECT_EQ(result.workloads[0].wanted, 1);
  EXPECT_EQ(result.workloads[0].unavailable, 0s);
  EXPECT_EQ(result.workloads[1].unavailable, 30s);
  const std::vector<Span> shortfall = {{60s, 70s, "1"}, {80s, 100s, "1"}};
  EXPECT_EQ(result.workloads[1].shortfall, shortfall);
  EXPECT_EQ(result.workloads[1].evicted, 1);
  const std::vector<std::string> said = {"1m0s a-1: Ready is Unknown",
                                         "1m0s a-1: tainted unreachable",
                                         "1m10s default/web-5f7c-1: main restarted on a-1",
                                         "1m10s default/web-5f7c-1: evicted from a-1"};
  EXPECT_EQ(said_, said);
}

TEST_F(LabRecorder, CountsWhatAScaleWants) {
  recorder_.pods_listed({pod_of("1", "web-5f7c", "ReplicaSet", "a-1")});
  recorder_.containers_are("a-1", {container("1", 0)});
  recorder_.begin();
  clock_.advance(1s);
  recorder_.scaled("web", 3);
  clock_.advance(1s);
  recorder_.scaled("web", 0);
  clock_.advance(1s);
  const RunResult result = recorder_.finish({});
  const std::vector<Span> shortfall = {{10s, 20s, "2"}};
  EXPECT_EQ(result.workloads[1].shortfall, shortfall);
}

}  // namespace
}  // namespace holdfast::agent::lab::run
