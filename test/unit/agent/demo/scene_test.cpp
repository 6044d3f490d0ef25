// The current state of the demo, as it is assembled from observations.

#include "agent/lab/demo/scene.h"

#include "agent/lab/demo/screen.h"
#include "test/unit/agent/demo/good_run.h"

namespace holdfast::agent::demo {
namespace {

Scene quiet_scene() {
  Scene scene;
  scene.take(LinkSeen{.node = "edge-a", .state = "connected"});
  scene.take(NodeSeen{.name = "edge-a", .ready = "True"});
  scene.take(PodSeen{.uid = "1", .owner = "ReplicaSet", .node = "edge-a", .ready = true});
  scene.take(PodSeen{.uid = "2", .owner = "DaemonSet", .node = "edge-a", .ready = true});
  return scene;
}

TEST(DemoScene, TheSameAgainIsNoNews) {
  Scene scene = quiet_scene();
  EXPECT_FALSE(scene.take(NodeSeen{.at = at(9), .name = "edge-a", .ready = "True"}));
  EXPECT_TRUE(scene.take(NodeSeen{.at = at(9), .name = "edge-a", .ready = "Unknown"}));
  EXPECT_EQ(scene.ready("edge-a"), "Unknown");
  EXPECT_EQ(scene.ready("edge-z"), "");
}

TEST(DemoScene, PodsCountWhileTheyRunAndStay) {
  Scene scene = quiet_scene();
  EXPECT_EQ(scene.running("edge-a"), 2);
  EXPECT_EQ(scene.running("edge-a", "DaemonSet"), 1);
  PodSeen going{.uid = "1", .owner = "ReplicaSet", .node = "edge-a", .ready = true};
  going.deleting = true;
  scene.take(going);
  EXPECT_EQ(scene.running("edge-a"), 1);
  EXPECT_EQ(scene.on("edge-a").size(), 2u);
  going.gone = true;
  scene.take(going);
  EXPECT_EQ(scene.on("edge-a").size(), 1u);
}

TEST(DemoScene, WholeMeansReadyUntaintedConnectedAndSent) {
  EXPECT_TRUE(quiet_scene().whole(1));
  EXPECT_FALSE(quiet_scene().whole(2));
  Scene tainted = quiet_scene();
  tainted.take(NodeSeen{.name = "edge-a", .ready = "True", .taints = {"k/x:NoSchedule"}});
  EXPECT_FALSE(tainted.whole(1));
  EXPECT_TRUE(tainted.tainted("edge-a", ":NoSchedule"));
  EXPECT_FALSE(tainted.tainted("edge-a", ":NoExecute"));
  Scene unsent = quiet_scene();
  unsent.take(LinkSeen{.node = "edge-a", .state = "connected", .outbox = 1});
  EXPECT_FALSE(unsent.whole(1));
  Scene offline = quiet_scene();
  offline.take(LinkSeen{.node = "edge-a", .state = "offline"});
  EXPECT_FALSE(offline.whole(1));
}

TEST(DemoScreen, TheTableShowsEveryNode) {
  Scene scene = quiet_scene();
  scene.take(NodeSeen{.name = "edge-a",
                      .ready = "Unknown",
                      .taints = {"node.kubernetes.io/unreachable:NoSchedule"}});
  const std::vector<std::string> expected = {
      "node     link        ready    pods   unsent  taints",
      "edge-a   connected   Unknown  2/2    0       unreachable:NoSchedule",
      "edge-z                        0/0    ?       -"};
  EXPECT_EQ(table(scene, {"edge-a", "edge-z"}), expected);
}

TEST(DemoScreen, TimesAreAligned) {
  EXPECT_EQ(clock_text(std::chrono::milliseconds(250)), "   0.2s");
  EXPECT_EQ(clock_text(at(83)), "  83.0s");
}

}  // namespace
}  // namespace holdfast::agent::demo
