// Nodes that are out of contact.

#include "sync/schedule/contact.h"

#include "sync/schedule/queue/event.h"
#include "sync/schedule/queue/hints.h"
#include "test/unit/sync/schedule/cluster_fixture.h"

namespace holdfast::sync::schedule {
namespace {

using test::make_node;
using test::make_pod;

Node lost_node(const std::string& name, bool autonomous) {
  Node node = make_node(name);
  NodeCondition ready;
  ready.type = "Ready";
  ready.status = "Unknown";
  node.status.conditions.push_back(ready);
  node.spec.taints.push_back({"node.kubernetes.io/unreachable", "", "NoSchedule", {}, {}});
  if (autonomous) node.metadata.annotations.set("node.beta.openyurt.io/autonomy", "true");
  return node;
}

Pod tolerant_pod() {
  Pod pod = make_pod("p", 0, "100");
  pod.spec.tolerations.push_back({"", "Exists", "", "", {}, {}});
  return pod;
}

TEST(Contact, IsReadFromTheConditionOrTheTaint) {
  Node node = make_node("n");
  EXPECT_FALSE(is_out_of_contact(node));
  for (const char* status : {"True", "False"}) {
    node.status.conditions = {};
    node.status.conditions.emplace_back().type = "Ready";
    node.status.conditions.back().status = status;
    EXPECT_FALSE(is_out_of_contact(node)) << status;
  }
  node.status.conditions.back().status = "Unknown";
  EXPECT_TRUE(is_out_of_contact(node));
  EXPECT_FALSE(is_autonomous_out_of_contact(node));
  Node tainted = make_node("n");
  tainted.spec.taints.push_back({"node.kubernetes.io/unreachable", "", "NoExecute", {}, {}});
  EXPECT_TRUE(is_out_of_contact(tainted));
  const struct {
    const char* annotation;
    const char* value;
    bool autonomous;
  } rows[] = {{"node.beta.openyurt.io/autonomy", "true", true},
              {"node.beta.openyurt.io/autonomy", "false", false},
              {"apps.openyurt.io/binding", "true", true},
              {"node.openyurt.io/autonomy-duration", "1h", true},
              {"node.openyurt.io/autonomy-duration", "soon", false}};
  for (const auto& row : rows) {
    Node lost = node;
    lost.metadata.annotations.set(row.annotation, row.value);
    EXPECT_EQ(is_autonomous_out_of_contact(lost), row.autonomous)
        << row.annotation << "=" << row.value;
    lost.status.conditions.back().status = "True";
    EXPECT_FALSE(is_autonomous_out_of_contact(lost)) << "it is heard";
  }
}

TEST(Contact, AnAutonomousNodeOutOfContactTakesNoPodWhateverItTolerates) {
  test::ClusterFixture cluster_fixture;
  cluster_fixture.nodes = {lost_node("n1", true)};
  cluster_fixture.incoming = tolerant_pod();
  EXPECT_EQ(test::run(cluster_fixture).message,
            "0/1 nodes are available: 1 node(s) were autonomous and out of contact.");
  // Removing pods there would not help.
  cluster_fixture.pods.push_back(make_pod("victim", -5, "4000", "n1"));
  EXPECT_FALSE(test::run(cluster_fixture).preemption.chosen);
  // For a pod that does not tolerate the taint, the message is upstream's.
  cluster_fixture.incoming = make_pod("p", 0, "100");
  EXPECT_EQ(test::run(cluster_fixture).message,
            "0/1 nodes are available: 1 node(s) had untolerated taint "
            "{node.kubernetes.io/unreachable: }.");
}

TEST(Contact, ConnectedNodesArePreferredToToleratedOnes) {
  test::ClusterFixture cluster_fixture;
  cluster_fixture.nodes = {lost_node("n1", false), make_node("n2"), lost_node("n3", false)};
  cluster_fixture.incoming = tolerant_pod();
  // n2 is chosen although its score is the lowest.
  cluster_fixture.pods.push_back(make_pod("busy", 0, "3800", "n2"));
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    EXPECT_EQ(test::run(cluster_fixture, seed).node, "n2");
  cluster_fixture.pods.push_back(make_pod("full", 0, "200", "n2"));
  EXPECT_NE(test::run(cluster_fixture).node, "n2") << "better there than nowhere";
  EXPECT_NE(test::run(cluster_fixture).node, "");
}

TEST(Contact, ANodeOutOfContactGetsAPodThatIsNominatedToIt) {
  Pod unwilling = tolerant_pod();
  unwilling.spec.tolerations.clear();
  const struct {
    const char* what;
    Node lost;
    Pod pod;
    const char* node;
  } rows[] = {{"not autonomous", lost_node("lost", false), tolerant_pod(), "lost"},
              {"autonomous", lost_node("lost", true), tolerant_pod(), "connected"},
              {"not tolerated", lost_node("lost", false), unwilling, "connected"}};
  for (const auto& row : rows) {
    test::ClusterFixture cluster_fixture;
    cluster_fixture.nodes = {row.lost, make_node("connected")};
    cluster_fixture.incoming = row.pod;
    EXPECT_EQ(test::run(cluster_fixture).node, "connected") << row.what;
    cluster_fixture.incoming.status.nominated_node_name = "lost";
    EXPECT_EQ(test::run(cluster_fixture).node, row.node) << row.what;
  }
}

TEST(Contact, TheSwitchIsForAutonomousNodesOnly) {
  for (const bool on : {true, false}) {
    Cluster cluster;
    cluster.set_node(lost_node("lost", true));
    Finder finder(plugins({.contact = on}));
    Random random(1);
    const PodRef pod = view_of(tolerant_pod(), cluster.symbols());
    const Attempt alone = finder.find(cluster, {}, *pod, random);
    EXPECT_EQ(alone.node == nullptr ? "" : alone.node->name(), on ? "" : "lost");
    cluster.set_node(make_node("connected"));
    for (int i = 0; i < 20; ++i) {
      EXPECT_EQ(finder.find(cluster, {}, *pod, random).node->name(), "connected");
    }
  }
}

TEST(Contact, TheScanGoesOnUntilEnoughConnectedNodesAreFound) {
  Cluster cluster;
  for (int i = 0; i < 400; ++i) {
    const std::string name = "n" + std::to_string(1000 + i);
    cluster.set_node(i < 399 ? lost_node(name, false) : make_node(name));
  }
  Finder finder(plugins());
  Random random(1);
  const PodRef pod = view_of(tolerant_pod(), cluster.symbols());
  const Attempt attempt = finder.find(cluster, {}, *pod, random);
  EXPECT_EQ(attempt.node->name(), "n1399");
  EXPECT_EQ(attempt.evaluated, 400u);
}

TEST(Contact, APodIsTriedAgainWhenTheNodeIsHeardAgain) {
  Symbols symbols;
  const PluginHints hints(symbols);
  const PodRef pod = view_of(tolerant_pod(), symbols);
  const auto lost = std::make_shared<const Node>(lost_node("n1", true));
  Node back = *lost;
  back.status.conditions[0].status = "True";
  back.spec.taints.clear();
  const auto heard = std::make_shared<const Node>(back);
  Node released = *lost;
  released.metadata.annotations = {};
  const auto ask = [&](const std::shared_ptr<const Node>& before,
                       const std::shared_ptr<const Node>& after) {
    Hint best = Hint::unrelated;
    for (const Event& event : node_changed(before, after)) {
      best = std::max(best, hints.ask("NodeContact", *pod, event));
    }
    return best;
  };
  EXPECT_EQ(ask(lost, heard), Hint::queue);
  EXPECT_EQ(ask(lost, std::make_shared<const Node>(released)), Hint::queue);
  EXPECT_EQ(ask(heard, lost), Hint::skip);
}

}  // namespace
}  // namespace holdfast::sync::schedule
