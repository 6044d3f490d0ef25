#include "sync/lifecycle/out_of_service.h"

#include "sync/lifecycle/taints.h"
#include "sync/objects/names.h"
#include "test/unit/sync/lifecycle/describe.h"

namespace holdfast::sync::lifecycle {
namespace {

NodeFacts dead_node(std::string_view effect, std::string_view ready = "Unknown") {
  NodeFacts node = make_facts("a", ready);
  node.taints.push_back(make_taint(objects::taint_out_of_service, effect, test_epoch));
  return node;
}

PodFacts terminating(const std::string& name) {
  PodFacts pod = make_pod_facts(name, "a");
  pod.terminating = true;
  return pod;
}

PodFacts tolerant_pod(const std::string& name) {
  PodFacts pod = make_pod_facts(name, "a");
  pod.tolerations.push_back(make_toleration(std::string(objects::taint_out_of_service), {}));
  return pod;
}

Outcome failure(Errc error) { return {error, {}}; }

TEST(OutOfService, PodsThatTerminateFailAndGoByForceThenTheVolumes) {
  OutOfService machine{Options{}};
  PodIndex pods;
  pods.set(terminating("p"));
  pods.set(tolerant_pod("daemon"));
  machine.set_node(dead_node(objects::no_execute));
  const PodRef pod{"default", "p", "uid-p"};
  EXPECT_EQ(machine.pass(pods), Effects{FailPod{pod}});
  EXPECT_EQ(machine.pass(pods), Effects{}) << "one write at a time";
  const DeletePod forced{pod, true};
  EXPECT_EQ(machine.settle(FailPod{pod}, {}), Effects{forced});
  EXPECT_EQ(machine.settle(forced, {}), Effects{});
  pods.remove("default/p");
  EXPECT_EQ(machine.pass(pods), Effects{DetachVolumes{"a"}});
  EXPECT_EQ(machine.settle(DetachVolumes{"a"}, {}), Effects{});
  EXPECT_EQ(machine.pass(pods), Effects{});
}

TEST(OutOfService, WhatEndedIsOnlyDeleted) {
  OutOfService machine{Options{}};
  PodIndex pods;
  PodFacts pod = terminating("p");
  pod.ended = true;
  pods.set(pod);
  machine.set_node(dead_node(objects::no_schedule));
  EXPECT_EQ(describe(machine.pass(pods)), Lines{"force-delete default/p uid-p"});
}

TEST(OutOfService, VolumesStayWhileAPodRunsThereAndGoOnceItEnded) {
  OutOfService machine{Options{}};
  PodIndex pods;
  PodFacts pod = make_pod_facts("p", "a");
  pods.set(pod);
  machine.set_node(dead_node(objects::no_schedule));
  EXPECT_EQ(machine.pass(pods), Effects{});
  pod.ended = true;
  pods.set(pod);
  EXPECT_EQ(machine.pass(pods), Effects{DetachVolumes{"a"}});
}

TEST(OutOfService, FailuresAreTriedInTheNextPass) {
  OutOfService machine{Options{}};
  PodIndex pods;
  pods.set(terminating("p"));
  machine.set_node(dead_node(objects::no_execute));
  const Effects first = machine.pass(pods);
  (void)machine.settle(first.front(), failure(Errc::unavailable));
  EXPECT_EQ(machine.pass(pods), first);
  (void)machine.settle(first.front(), {});
  (void)machine.settle(DeletePod{{"default", "p", "uid-p"}, true}, failure(Errc::unavailable));
  EXPECT_EQ(machine.pass(pods), first);
  pods.remove("default/p");
  (void)machine.pass(pods);
  (void)machine.settle(DetachVolumes{"a"}, failure(Errc::unavailable));
  EXPECT_EQ(machine.pass(pods), Effects{DetachVolumes{"a"}});
}

TEST(OutOfService, OnlyNodesThatAreNotReadyAndHaveTheTaint) {
  PodIndex pods;
  pods.set(terminating("p"));
  const struct {
    const char* name;
    NodeFacts node;
    std::size_t nodes;
  } rows[] = {
      {"ready", dead_node(objects::no_execute, "True"), 0},
      {"not ready", dead_node(objects::no_execute, "False"), 1},
      {"never reported", dead_node(objects::no_execute, ""), 1},
      {"without the taint", make_facts("a", "Unknown"), 0},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    OutOfService machine{Options{}};
    machine.set_node(row.node);
    EXPECT_EQ(machine.nodes(), row.nodes);
    EXPECT_EQ(machine.pass(pods).size(), row.nodes);
    machine.remove_node("a");
    EXPECT_EQ(machine.nodes(), 0u);
  }
}

}  // namespace
}  // namespace holdfast::sync::lifecycle
