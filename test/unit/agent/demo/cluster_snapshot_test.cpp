// The current state of the demo, as it is assembled from observations.

#include "agent/lab/demo/cluster_snapshot.h"

#include "agent/lab/demo/screen.h"
#include "test/unit/agent/demo/good_run.h"

namespace holdfast::agent::demo {
namespace {

ClusterSnapshot quiet_snapshot() {
  ClusterSnapshot snapshot;
  snapshot.take(LinkSeen{.node = "edge-a", .state = "connected"});
  snapshot.take(NodeSeen{.name = "edge-a", .ready = "True"});
  snapshot.take(PodSeen{.uid = "1", .owner = "ReplicaSet", .node = "edge-a", .ready = true});
  snapshot.take(PodSeen{.uid = "2", .owner = "DaemonSet", .node = "edge-a", .ready = true});
  return snapshot;
}

TEST(DemoClusterSnapshot, TheSameAgainIsNoNews) {
  ClusterSnapshot snapshot = quiet_snapshot();
  EXPECT_FALSE(snapshot.take(NodeSeen{.at = at(9), .name = "edge-a", .ready = "True"}));
  EXPECT_TRUE(snapshot.take(NodeSeen{.at = at(9), .name = "edge-a", .ready = "Unknown"}));
  EXPECT_EQ(snapshot.ready("edge-a"), "Unknown");
  EXPECT_EQ(snapshot.ready("edge-z"), "");
}

TEST(DemoClusterSnapshot, PodsCountWhileTheyRunAndStay) {
  ClusterSnapshot snapshot = quiet_snapshot();
  EXPECT_EQ(snapshot.running("edge-a"), 2);
  EXPECT_EQ(snapshot.running("edge-a", "DaemonSet"), 1);
  PodSeen going{.uid = "1", .owner = "ReplicaSet", .node = "edge-a", .ready = true};
  going.deleting = true;
  snapshot.take(going);
  EXPECT_EQ(snapshot.running("edge-a"), 1);
  EXPECT_EQ(snapshot.on("edge-a").size(), 2u);
  going.gone = true;
  snapshot.take(going);
  EXPECT_EQ(snapshot.on("edge-a").size(), 1u);
}

TEST(DemoClusterSnapshot, WholeMeansReadyUntaintedConnectedAndSent) {
  EXPECT_TRUE(quiet_snapshot().is_recovered(1));
  EXPECT_FALSE(quiet_snapshot().is_recovered(2));
  ClusterSnapshot tainted = quiet_snapshot();
  tainted.take(NodeSeen{.name = "edge-a", .ready = "True", .taints = {"k/x:NoSchedule"}});
  EXPECT_FALSE(tainted.is_recovered(1));
  EXPECT_TRUE(tainted.tainted("edge-a", ":NoSchedule"));
  EXPECT_FALSE(tainted.tainted("edge-a", ":NoExecute"));
  ClusterSnapshot unsent = quiet_snapshot();
  unsent.take(LinkSeen{.node = "edge-a", .state = "connected", .outbox = 1});
  EXPECT_FALSE(unsent.is_recovered(1));
  ClusterSnapshot offline = quiet_snapshot();
  offline.take(LinkSeen{.node = "edge-a", .state = "offline"});
  EXPECT_FALSE(offline.is_recovered(1));
}

TEST(DemoScreen, TheTableShowsEveryNode) {
  ClusterSnapshot snapshot = quiet_snapshot();
  snapshot.take(NodeSeen{.name = "edge-a",
                         .ready = "Unknown",
                         .taints = {"node.kubernetes.io/unreachable:NoSchedule"}});
  const std::vector<std::string> expected = {
      "node     link        ready    pods   unsent  taints",
      "edge-a   connected   Unknown  2/2    0       unreachable:NoSchedule",
      "edge-z                        0/0    ?       -"};
  EXPECT_EQ(table(snapshot, {"edge-a", "edge-z"}), expected);
}

TEST(DemoScreen, TimesAreAligned) {
  EXPECT_EQ(clock_text(std::chrono::milliseconds(250)), "   0.2s");
  EXPECT_EQ(clock_text(at(83)), "  83.0s");
}

}  // namespace
}  // namespace holdfast::agent::demo
