// When the pod binding writes, in the whole Controller.

#include "sync/lifecycle/pod_binder.h"

#include "sync/lifecycle/controller.h"
#include "sync/objects/names.h"
#include "test/unit/sync/lifecycle/describe.h"
#include "test/unit/sync/lifecycle/stepped.h"

namespace holdfast::sync::lifecycle {
namespace {

using namespace std::chrono_literals;

const std::string not_ready(objects::taint_not_ready);

Node edge_node() {
  Node node = make_node("a", "True");
  node.metadata.labels.set(objects::label_edge_worker, "true");
  return node;
}

Pod pod_with(std::int64_t seconds) {
  Pod pod = make_pod("p", "a");
  pod.spec.tolerations.push_back(make_toleration(not_ready, seconds));
  return pod;
}

SteppedController binding_only() {
  Options options;
  options.autonomy = AutonomyMode::openyurt;
  return SteppedController(options,
                           {.node_lifecycle = false, .taint_eviction = false, .pod_binding = true});
}

const BindPod by_switch{{"default", "p", "uid-p"}, {.bound = true, .wanted = true}};

// Sets the deprecated annotation, whose changes OpenYurt ignores.
TEST(PodBinder, ANodeThatBecomesAutonomousBindsItsPodsOnce) {
  SteppedController controller = binding_only();
  Node node = edge_node();
  EXPECT_EQ(controller.set_node(start, wall, node), Effects{});
  EXPECT_EQ(controller.set_pod(start, wall, pod_with(300)), Effects{});
  node.metadata.annotations.set(objects::annotation_binding, "true");
  EXPECT_EQ(controller.set_node(start, wall, node), Effects{by_switch});
  EXPECT_EQ(controller.set_node(start, wall, node), Effects{});

  Pod bound = make_pod("p", "a");
  bound.spec.tolerations.push_back(make_toleration(not_ready, {}));
  bound.metadata.annotations.set(objects::annotation_original_not_ready, "300");
  EXPECT_EQ(controller.set_pod(start, wall, bound), Effects{});
  EXPECT_EQ(controller.settle(start, wall, by_switch, {}), Effects{});
  EXPECT_EQ(controller.tick(start + 5s, wall), Effects{});

  node.metadata.annotations = {};
  EXPECT_EQ(describe(controller.set_node(start + 5s, wall, node)), Lines{"bind default/p"});
}

TEST(PodBinder, APodThatComesLaterIsBoundWhenItIsSeen) {
  SteppedController controller = binding_only();
  Node node = edge_node();
  node.metadata.annotations.set(objects::annotation_autonomy_duration, "2h");
  EXPECT_EQ(controller.set_pod(start, wall, pod_with(300)), Effects{}) << "its node is not known";
  EXPECT_EQ(describe(controller.set_node(start, wall, node)), Lines{"bind default/p"});
  Pod daemon = pod_with(300);
  daemon.metadata.name = "d";
  daemon.metadata.owner_references.push_back({.kind = "DaemonSet"});
  EXPECT_EQ(controller.set_pod(start, wall, daemon), Effects{});
}

TEST(PodBinder, WhatFailedOrChangedMeanwhileIsFoundByTheNextPass) {
  SteppedController controller = binding_only();
  Node node = edge_node();
  node.metadata.annotations.set(objects::annotation_binding, "true");
  (void)controller.set_node(start, wall, node);
  EXPECT_EQ(controller.set_pod(start, wall, pod_with(300)), Effects{by_switch});
  EXPECT_EQ(controller.settle(start, wall, by_switch, {Errc::unavailable, {}}), Effects{});
  EXPECT_LE(controller.next(), start + 5s);
  EXPECT_EQ(controller.tick(start + 5s, wall), Effects{by_switch});
}

TEST(PodBinder, ABadDurationIsToldOnceAValueAndBindsNothing) {
  Options options;
  options.autonomy = AutonomyMode::openyurt;
  SteppedController controller(options, {.pod_binding = true});
  Node node = edge_node();
  node.metadata.annotations.set(objects::annotation_autonomy_duration, "soon");
  (void)controller.set_node(start, wall, node);
  EXPECT_EQ(controller.set_pod(start, wall, pod_with(300)), Effects{});
  const std::string told = "event Node/a Warning InvalidAutonomyDuration";
  EXPECT_EQ(describe(controller.tick(start, wall)),
            (Lines{"event Node/a Normal RegisteredNode", told}));
  EXPECT_EQ(controller.tick(start + 5s, wall), Effects{});
  node.metadata.annotations.set(objects::annotation_autonomy_duration, "later");
  (void)controller.set_node(start + 6s, wall, node);
  EXPECT_EQ(describe(controller.tick(start + 10s, wall)), Lines{told});
}

}  // namespace
}  // namespace holdfast::sync::lifecycle
