// Which pods a kubelet refuses when it starts again.

#include "sync/node/boot_admission.h"

#include "sync/objects/names.h"
#include "test/unit/sync/schedule/cluster_fixture.h"

namespace holdfast::sync::node {
namespace {

using namespace std::chrono_literals;
using schedule::test::make_node;
using schedule::test::make_pod;

// By the pods' names.
using Reasons = std::map<std::string, std::string>;

Reasons reasons(const Node& node, std::vector<Pod> pods) {
  std::map<std::string, std::string> names;
  for (const Pod& pod : pods) names[pod.metadata.uid] = pod.metadata.name;
  Reasons found;
  for (const auto& [uid, refusal] : refused_at_boot(node, std::move(pods))) {
    found[names.at(uid)] = refusal.reason;
  }
  return found;
}

Pod created(Pod pod, Duration at) {
  pod.metadata.creation_timestamp = schedule::test::wall_now + at;
  return pod;
}

Pod with_port(const std::string& name, std::int32_t port) {
  Pod pod = make_pod(name, 0, "1");
  ContainerPort wanted;
  wanted.host_port = port;
  wanted.container_port = port;
  pod.spec.containers[0].ports.push_back(wanted);
  return pod;
}

Pod with_selector(const std::string& name, const std::string& host) {
  Pod pod = make_pod(name, 0, "1");
  pod.spec.node_selector.set("host", host);
  return pod;
}

Pod with_extended(const std::string& name, const std::string& resource) {
  Pod pod = make_pod(name, 0, "1");
  pod.spec.containers[0].resources.requests.set(resource, "2");
  return pod;
}

Pod in_phase(const std::string& name, const std::string& phase) {
  Pod pod = make_pod(name, 0, "4000");
  pod.status.phase = phase;
  return pod;
}

Pod tolerant(const std::string& name) {
  Pod pod = make_pod(name, 0, "1");
  Toleration all;
  all.operator_name = "Exists";
  all.toleration_seconds = 0;
  pod.spec.tolerations.push_back(all);
  return pod;
}

Pod mirror(const std::string& name) {
  Pod pod = make_pod(name, 0, "1");
  pod.metadata.annotations.set(std::string(objects::annotation_mirror_pod), "x");
  return pod;
}

Node tainted(std::string_view effect) {
  Node node = make_node("n");
  Taint taint;
  taint.key = "k";
  taint.effect = effect;
  node.spec.taints.push_back(taint);
  return node;
}

TEST(BootAdmission, AsTheKubeletDecides) {
  const Node plain = make_node("n", 4);
  Node with_gpus = make_node("n", 4);
  with_gpus.status.allocatable.set("e.com/gpu", "3");
  Node small = make_node("n", 4);
  small.status.allocatable.set("pods", "1");
  const struct {
    const char* what;
    Node node;
    std::vector<Pod> pods;
    Reasons refused;
  } rows[] = {
      {"all fit", plain, {make_pod("a", 0, "2000"), make_pod("b", 0, "2000")}, {}},
      {"the youngest does not fit",
       plain,
       {created(make_pod("a", 0, "3000"), 2s), created(make_pod("b", 0, "3000"), 1s)},
       {{"a", "OutOfcpu"}}},
      {"what was refused takes no room",
       plain,
       {created(make_pod("a", 0, "3000"), 1s), created(make_pod("b", 0, "3000"), 2s),
        created(make_pod("c", 0, "1000"), 3s)},
       {{"b", "OutOfcpu"}}},
      {"a critical pod preempts an older one",
       plain,
       {created(make_pod("a", 0, "3000"), 1s), created(make_pod("b", 2'000'000'000, "3000"), 2s)},
       {{"a", "Preempting"}}},
      {"ended pods take no room",
       plain,
       {in_phase("a", "Succeeded"), in_phase("b", "Failed"), in_phase("c", "Running")},
       {}},
      {"too many pods",
       small,
       {make_pod("a", 0, "1"), make_pod("b", 0, "1")},
       {{"b", "OutOfpods"}}},
      {"labels have changed",
       plain,
       {with_selector("a", "n"), with_selector("b", "other")},
       {{"b", "NodeAffinity"}}},
      {"ports",
       plain,
       {with_port("a", 80), with_port("b", 80), with_port("c", 81)},
       {{"b", "NodePorts"}}},
      {"a taint that evicts",
       tainted(objects::no_execute),
       {make_pod("a", 0, "1"), tolerant("b"), mirror("c")},
       {{"a", "TaintToleration"}}},
      {"a taint for the scheduler only",
       tainted(objects::no_schedule),
       {make_pod("a", 0, "1")},
       {}},
      {"devices",
       with_gpus,
       {with_extended("a", "e.com/gpu"), with_extended("b", "e.com/gpu")},
       {{"b", "OutOfe.com/gpu"}}},
      {"a resource that is accounted for elsewhere",
       with_gpus,
       {with_extended("a", "e.com/license"), with_extended("b", "e.com/license")},
       {}},
  };
  for (const auto& row : rows) EXPECT_EQ(reasons(row.node, row.pods), row.refused) << row.what;
}

TEST(BootAdmission, SaysWhatTheKubeletSays) {
  const auto refused = refused_at_boot(tainted(objects::no_execute), {make_pod("a", 0, "1")});
  EXPECT_EQ(refused.at("uid-a"),
            (Refusal{"TaintToleration",
                     "Predicate TaintToleration failed: node(s) had taints that the pod didn't "
                     "tolerate"}));
}

}  // namespace
}  // namespace holdfast::sync::node
