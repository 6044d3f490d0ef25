// Attempts: the order of the scan, how many nodes it checks, and the message if none fits. Also the
// Cluster and the Nominator.

#include "sync/schedule/attempt.h"

#include "test/unit/sync/schedule/cluster_fixture.h"

namespace holdfast::sync::schedule {
namespace {

using test::make_node;
using test::make_pod;

struct AttemptBench {
  Cluster cluster;
  Nominator nominator;
  Finder finder{plugins()};
  Random random{1};

  explicit AttemptBench(int nodes) {
    for (int i = 0; i < nodes; ++i) cluster.set_node(make_node("n" + std::to_string(1000 + i)));
  }
  Attempt find(const Pod& pod) {
    const PodRef view = view_of(pod, cluster.symbols());
    return finder.find(cluster, nominator, *view, random);
  }
};

TEST(Attempt, WithoutNodesThereIsNothingToPreempt) {
  AttemptBench bench(0);
  const Attempt attempt = bench.find(make_pod("p", 0, "1"));
  EXPECT_EQ(attempt.fit_status, reject(Code::unresolvable, "no nodes available to schedule pods"));
  EXPECT_FALSE(attempt.diagnosis);
}

TEST(Attempt, StopsWhenEnoughNodesWouldDoAndGoesOnFromThere) {
  AttemptBench bench(500);
  for (int i = 0; i < 5; ++i) {
    const Attempt attempt = bench.find(make_pod("p", 0, "1"));
    EXPECT_EQ(attempt.evaluated, 230u);  // 46 % of 500
    EXPECT_EQ(attempt.feasible, 230u);
  }
}

TEST(Attempt, ThePromisedNodeIsTriedAloneAndFirst) {
  AttemptBench bench(500);
  Pod pod = make_pod("p", 0, "1000");
  pod.status.nominated_node_name = "n1400";
  EXPECT_EQ(bench.find(pod).evaluated, 1u);
  EXPECT_EQ(bench.find(pod).node->name(), "n1400");
  bench.cluster.set_pod(view_of(make_pod("full", 0, "4000", "n1400"), bench.cluster.symbols()));
  const Attempt attempt = bench.find(pod);
  EXPECT_GT(attempt.evaluated, 1u);
  EXPECT_NE(attempt.node->name(), "n1400");
}

TEST(Attempt, NamedNodesAreTheOnlyOnesLookedAt) {
  AttemptBench bench(500);
  Pod pod = make_pod("p", 0, "1");
  pod.spec.affinity = Affinity{};
  NodeSelector& required = pod.spec.affinity->node_affinity.emplace().required.emplace();
  required.node_selector_terms.emplace_back().match_fields = {
      {"metadata.name", "In", {"n1007"}, {}}};
  EXPECT_EQ(bench.find(pod).node->name(), "n1007");
  bench.cluster.set_pod(view_of(make_pod("full", 0, "4000", "n1007"), bench.cluster.symbols()));
  EXPECT_EQ(bench.find(pod).fit_status.message(),
            "0/500 nodes are available: 1 Insufficient cpu, 499 node(s) didn't satisfy plugin(s) "
            "[NodeAffinity].");
}

TEST(Attempt, EveryRejectingPluginIsNamed) {
  AttemptBench bench(2);
  Node tainted = make_node("n1000");
  tainted.spec.taints.push_back({"k", "v", "NoSchedule", {}, {}});
  bench.cluster.set_node(tainted);
  const Attempt attempt = bench.find(make_pod("p", 0, "9000"));
  ASSERT_TRUE(attempt.diagnosis);
  EXPECT_EQ(attempt.diagnosis->unschedulable_plugins,
            (std::set<std::string>{"NodeResourcesFit", "TaintToleration"}));
  EXPECT_EQ(attempt.fit_status.message(),
            "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint {k: v}.");
}

TEST(Attempt, PreferredNodesAndTaintsDecideAmongEquals) {
  AttemptBench bench(3);
  Node liked = make_node("n1001");
  liked.metadata.labels.set("disk", "ssd");
  bench.cluster.set_node(liked);
  Pod pod = make_pod("p", 0, "1");
  pod.spec.affinity = Affinity{};
  PreferredSchedulingTerm& term =
      pod.spec.affinity->node_affinity.emplace().preferred.emplace_back();
  term.weight = 10;
  term.preference.match_expressions = {{"disk", "In", {"ssd"}, {}}};
  EXPECT_EQ(bench.find(pod).node->name(), "n1001");
  liked.spec.taints.push_back({"k", "v", "PreferNoSchedule", {}, {}});
  bench.cluster.set_node(liked);
  EXPECT_NE(bench.find(pod).node->name(), "n1001");
}

TEST(Cluster, ZonesTakeTurns) {
  Cluster cluster;
  for (const std::string name : {"b2", "a1", "b1", "a2", "a3", "c"}) {
    Node node = make_node(name);
    node.metadata.labels.set("topology.kubernetes.io/zone", name.substr(0, 1));
    cluster.set_node(node);
  }
  std::string order;
  for (const NodeView* node : cluster.nodes()) order += node->name() + " ";
  EXPECT_EQ(order, "a1 b1 c a2 b2 a3 ");
  cluster.remove_node("b1");
  EXPECT_EQ(cluster.nodes().size(), 5u);
  EXPECT_EQ(cluster.find("b1"), nullptr);
}

TEST(Cluster, PodsAddUpAndLeaveNothingBehind) {
  Cluster cluster;
  Symbols& symbols = cluster.symbols();
  Pod pod = make_pod("p", 0, "500", "n");
  pod.spec.containers[0].resources.requests.set("example.com/gpu", "2");
  cluster.set_pod(view_of(pod, symbols));
  EXPECT_EQ(cluster.find("n"), nullptr);  // Only its pod names it.
  cluster.set_node(make_node("n"));
  EXPECT_EQ(cluster.find("n")->requested.milli_cpu, 500);
  cluster.set_pod(view_of(make_pod("p", 0, "700", "n"), symbols));
  EXPECT_EQ(cluster.find("n")->requested.milli_cpu, 700);
  EXPECT_EQ(cluster.find("n")->requested.scalar(symbols.id("example.com/gpu")), 0);
  Pod ended = make_pod("p", 0, "700", "n");
  ended.status.phase = "Succeeded";
  cluster.set_pod(view_of(ended, symbols));
  EXPECT_EQ(cluster.pods(), 0u);
  EXPECT_EQ(cluster.find("n")->requested.milli_cpu, 0);
  EXPECT_TRUE(cluster.find("n")->pods.empty());
}

TEST(Nominator, APromiseOutlivesAnUpdateThatDoesNotMentionIt) {
  Symbols symbols;
  Nominator nominator;
  const PodRef before = view_of(make_pod("p", 5, "1"), symbols);
  const PodRef after = view_of(make_pod("p", 5, "2"), symbols);
  nominator.add(before, "n1");
  nominator.update(before, after);
  EXPECT_EQ(nominator.node_of("uid-p"), "n1");
  EXPECT_EQ(nominator.on("n1")[0], after);
  Pod written = make_pod("p", 5, "2");
  written.status.nominated_node_name = "n1";
  const PodRef confirmed = view_of(written, symbols);
  nominator.update(after, confirmed);
  nominator.update(confirmed, after);
  EXPECT_EQ(nominator.node_of("uid-p"), "");
  nominator.add(after, "n2");
  EXPECT_EQ(nominator.below("n2", *view_of(make_pod("q", 6, "1"), symbols)).size(), 1u);
  EXPECT_TRUE(nominator.below("n2", *view_of(make_pod("q", 5, "1"), symbols)).empty());
}

}  // namespace
}  // namespace holdfast::sync::schedule
