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

const DeadNode dead{"a", "uid-a"};

Outcome failure(Errc error) { return {error, {}}; }

TEST(OutOfService, PodsThatTerminateFailAndGoByForceThenTheVolumes) {
  OutOfService machine{Options{}};
  PodIndex pods;
  pods.set(terminating("p"));
  pods.set(tolerant_pod("daemon"));
  machine.set_node(dead_node(objects::no_execute));
  const PodRef pod{"default", "p", "uid-p"};
  EXPECT_EQ(machine.pass(pods), (Effects{FailPod{pod, dead}}));
  EXPECT_EQ(machine.pass(pods), Effects{}) << "one write at a time";
  const FailPod failing{pod, dead};
  const DeletePod forced{pod, dead};
  EXPECT_EQ(machine.settle(failing, {}), Effects{forced});
  EXPECT_EQ(machine.settle(forced, {}), Effects{});
  pods.remove("default/p");
  EXPECT_EQ(machine.pass(pods), Effects{DetachVolumes{dead}});
  EXPECT_EQ(machine.settle(DetachVolumes{dead}, {}), Effects{});
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
  EXPECT_EQ(machine.pass(pods), Effects{DetachVolumes{dead}});
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
  (void)machine.settle(DeletePod{{"default", "p", "uid-p"}, dead}, failure(Errc::unavailable));
  EXPECT_EQ(machine.pass(pods), first);
  pods.remove("default/p");
  (void)machine.pass(pods);
  (void)machine.settle(DetachVolumes{dead}, failure(Errc::unavailable));
  EXPECT_EQ(machine.pass(pods), Effects{DetachVolumes{dead}});
}

// The watch still says that the node is out of service.
TEST(OutOfService, WhatTheServerSaysOfTheNodeCounts) {
  NodeFacts other = dead_node(objects::no_execute);
  other.uid = "other";
  const struct {
    const char* name;
    NodeFacts live;
    Lines next;  // of the pass after it
  } rows[] = {{"Ready again", dead_node(objects::no_execute, "True"), {}},
              {"the taint is gone", make_facts("a", "Unknown"), {}},
              {"another node, which is out of service, too", other, {"fail default/p"}}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    OutOfService machine{Options{}};
    PodIndex pods;
    pods.set(terminating("p"));
    machine.set_node(dead_node(objects::no_execute));
    const Effects first = machine.pass(pods);
    Outcome outcome = failure(Errc::conflict);
    outcome.node = row.live;
    EXPECT_EQ(machine.settle(first.front(), outcome), Effects{});
    const Effects next = machine.pass(pods);
    EXPECT_EQ(describe(next), row.next);
    if (!next.empty()) {
      EXPECT_EQ(condition_of(next.front())->uid, "other");
    }
  }
}

TEST(OutOfService, EffectsThatCannotBeUndoneHaveACondition) {
  const PodRef pod{"default", "p", "uid-p"};
  const NodeMustBe lost{"a", "uid-a"};
  const NodeMustBe out_of_service{"a", "uid-a", true};
  const struct {
    Effect effect;
    std::optional<NodeMustBe> condition;
  } conditions[] = {{FailPod{pod, dead}, out_of_service},
                    {DeletePod{pod, dead}, out_of_service},
                    {DetachVolumes{dead}, out_of_service},
                    {DeleteNode{"a", "uid-a"}, lost},
                    {DeletePod{pod}, {}},
                    {EvictPod{pod}, {}}};
  for (const auto& row : conditions) EXPECT_EQ(condition_of(row.effect), row.condition);
  NodeFacts other = dead_node(objects::no_schedule);
  other.uid = "other";
  const struct {
    NodeFacts node;
    bool lost;
    bool out_of_service;
  } nodes[] = {{dead_node(objects::no_schedule), true, true},
               {dead_node(objects::no_execute, "False"), true, true},
               {dead_node(objects::no_execute, ""), true, true},
               {dead_node(objects::no_execute, "True"), false, false},
               {make_facts("a", "Unknown"), true, false},
               {other, false, false}};
  for (const auto& row : nodes) {
    EXPECT_EQ(lost.holds(row.node), row.lost);
    EXPECT_EQ(out_of_service.holds(row.node), row.out_of_service);
  }
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
