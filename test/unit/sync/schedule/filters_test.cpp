// Filters that depend on other nodes: affinity to other pods and topology spreading; and trials.

#include "test/unit/sync/schedule/cluster_fixture.h"

namespace holdfast::sync::schedule {
namespace {

using test::ClusterFixture;
using test::make_node;
using test::make_pod;

// Nodes a1 and a2 in zone a, b1 in zone b.
ClusterFixture three_nodes() {
  ClusterFixture cluster_fixture;
  for (const std::string name : {"a1", "a2", "b1"}) {
    cluster_fixture.nodes.push_back(make_node(name));
    cluster_fixture.nodes.back().metadata.labels.set("zone", name.substr(0, 1));
  }
  cluster_fixture.incoming = make_pod("p", 1000, "100");
  return cluster_fixture;
}

Pod labelled(const std::string& name, const std::string& app, const std::string& node) {
  Pod pod = make_pod(name, 0, "100", node);
  pod.metadata.labels.set("app", app);
  return pod;
}

std::string reason(const ClusterFixture& cluster_fixture, const std::string& node) {
  return test::fits(cluster_fixture, node).message();
}

TEST(PodAffinity, WantsAPodInTheSameDomain) {
  ClusterFixture cluster_fixture = three_nodes();
  test::add_affinity(cluster_fixture.incoming, test::term("app", "db", "zone"));
  cluster_fixture.pods.push_back(labelled("db", "db", "a1"));
  EXPECT_EQ(reason(cluster_fixture, "a1"), "");
  EXPECT_EQ(reason(cluster_fixture, "a2"), "");
  EXPECT_EQ(reason(cluster_fixture, "b1"), "node(s) didn't match pod affinity rules");
  cluster_fixture.pods[0].metadata.namespace_name = "elsewhere";
  EXPECT_NE(reason(cluster_fixture, "a1"), "");
}

TEST(PodAffinity, TheFirstOfAGroupMayGoAnywhereWithTheLabel) {
  ClusterFixture cluster_fixture = three_nodes();
  test::add_affinity(cluster_fixture.incoming, test::term("app", "web", "zone"));
  EXPECT_NE(reason(cluster_fixture, "a1"), "");
  cluster_fixture.incoming.metadata.labels.set("app", "web");
  EXPECT_EQ(reason(cluster_fixture, "a1"), "");
  cluster_fixture.nodes[0].metadata.labels.erase("zone");
  EXPECT_NE(reason(cluster_fixture, "a1"), "");
  cluster_fixture.pods.push_back(labelled("web-1", "web", "b1"));
  EXPECT_NE(reason(cluster_fixture, "a2"), "");
  EXPECT_EQ(reason(cluster_fixture, "b1"), "");
}

TEST(PodAffinity, AllTermsMustMeanOnePod) {
  ClusterFixture cluster_fixture = three_nodes();
  test::add_affinity(cluster_fixture.incoming, test::term("app", "db", "zone"));
  test::add_affinity(cluster_fixture.incoming, test::term("tier", "gold", "host"));
  cluster_fixture.pods.push_back(labelled("db", "db", "a1"));
  EXPECT_NE(reason(cluster_fixture, "a1"), "");
  cluster_fixture.pods[0].metadata.labels.set("tier", "gold");
  EXPECT_EQ(reason(cluster_fixture, "a1"), "");
  EXPECT_NE(reason(cluster_fixture, "a2"), "");
}

TEST(PodAffinity, AntiAffinityHoldsBothWays) {
  ClusterFixture cluster_fixture = three_nodes();
  test::add_anti_affinity(cluster_fixture.incoming, test::term("app", "noisy", "zone"));
  cluster_fixture.incoming.metadata.labels.set("app", "quiet");
  cluster_fixture.pods.push_back(labelled("noisy", "noisy", "a1"));
  EXPECT_EQ(reason(cluster_fixture, "a2"), "node(s) didn't match pod anti-affinity rules");
  EXPECT_EQ(reason(cluster_fixture, "b1"), "");
  Pod shy = labelled("shy", "shy", "b1");
  test::add_anti_affinity(shy, test::term("app", "quiet", "host"));
  cluster_fixture.pods.push_back(shy);
  EXPECT_EQ(reason(cluster_fixture, "b1"),
            "node(s) didn't satisfy existing pods anti-affinity rules");
}

TEST(PodAffinity, NamespacesAreByNameOrByLabel) {
  ClusterFixture cluster_fixture = three_nodes();
  PodAffinityTerm term = test::term("app", "db", "zone");
  term.namespaces = {"data"};
  test::add_affinity(cluster_fixture.incoming, term);
  cluster_fixture.pods.push_back(labelled("db", "db", "a1"));
  EXPECT_NE(reason(cluster_fixture, "a1"), "");
  cluster_fixture.pods[0].metadata.namespace_name = "data";
  EXPECT_EQ(reason(cluster_fixture, "a1"), "");

  const AffinityTerm by_label = [&term] {
    PodAffinityTerm wanted = term;
    wanted.namespaces.clear();
    wanted.namespace_selector.emplace().match_labels.set("team", "x");
    return compile(wanted, ObjectMeta{}).value();
  }();
  EXPECT_TRUE(by_label.matches(cluster_fixture.pods[0], {{"data", {{"team", "x"}}}}));
  EXPECT_FALSE(by_label.matches(cluster_fixture.pods[0], {{"data", {{"team", "y"}}}}));
  EXPECT_FALSE(by_label.matches(cluster_fixture.pods[0], {}));
}

TEST(Spread, NoDomainMayGetAheadByMoreThanItsSkew) {
  ClusterFixture cluster_fixture = three_nodes();
  cluster_fixture.incoming.metadata.labels.set("app", "web");
  test::add_spread(cluster_fixture.incoming, "zone", "app", "web");
  cluster_fixture.pods.push_back(labelled("w1", "web", "a1"));
  EXPECT_EQ(reason(cluster_fixture, "a2"), "node(s) didn't match pod topology spread constraints");
  EXPECT_EQ(reason(cluster_fixture, "b1"), "");
  cluster_fixture.pods.push_back(labelled("w2", "web", "b1"));
  EXPECT_EQ(reason(cluster_fixture, "a2"), "");
  cluster_fixture.pods[1].metadata.deletion_timestamp = test::wall_now;
  EXPECT_NE(reason(cluster_fixture, "a2"), "");
  cluster_fixture.nodes[1].metadata.labels.erase("zone");
  EXPECT_EQ(reason(cluster_fixture, "a2"),
            "node(s) didn't match pod topology spread constraints (missing required label)");
}

TEST(Spread, ADomainCountsOnlyIfThePodMayRunThere) {
  ClusterFixture cluster_fixture = three_nodes();
  cluster_fixture.incoming.metadata.labels.set("app", "web");
  cluster_fixture.incoming.spec.node_selector.set("zone", "a");
  test::add_spread(cluster_fixture.incoming, "zone", "app", "web");
  cluster_fixture.pods.push_back(labelled("w1", "web", "a1"));
  EXPECT_EQ(reason(cluster_fixture, "a2"), "");
  auto& constraint = cluster_fixture.incoming.spec.topology_spread_constraints[0];
  constraint.node_affinity_policy = "Ignore";
  EXPECT_NE(reason(cluster_fixture, "a2"), "");
  cluster_fixture.nodes[2].spec.taints.push_back({"k", "", "NoSchedule", {}, {}});
  constraint.node_taints_policy = "Honor";
  EXPECT_EQ(reason(cluster_fixture, "a2"), "");
  // With fewer domains than minDomains, the smallest count is taken as zero.
  constraint.min_domains = 2;
  EXPECT_NE(reason(cluster_fixture, "a2"), "");
}

TEST(Spread, LabelKeysNarrowWhoCounts) {
  ClusterFixture cluster_fixture = three_nodes();
  cluster_fixture.incoming.metadata.labels = {{"app", "web"}, {"revision", "2"}};
  test::add_spread(cluster_fixture.incoming, "zone", "app", "web");
  cluster_fixture.pods.push_back(labelled("w1", "web", "a1"));
  cluster_fixture.pods[0].metadata.labels.set("revision", "1");
  EXPECT_NE(reason(cluster_fixture, "a2"), "");
  cluster_fixture.incoming.spec.topology_spread_constraints[0].match_label_keys = {"revision"};
  EXPECT_EQ(reason(cluster_fixture, "a2"), "");
}

TEST(Filters, APodThatCannotFitEvenAnEmptyNodeIsHopeless) {
  ClusterFixture cluster_fixture = three_nodes();
  cluster_fixture.incoming = make_pod("p", 0, "9000");
  EXPECT_EQ(test::fits(cluster_fixture, "a1").code, Code::unresolvable);
  cluster_fixture.incoming = make_pod("p", 0, "3000");
  cluster_fixture.pods.push_back(make_pod("big", 0, "3000", "a1"));
  EXPECT_EQ(test::fits(cluster_fixture, "a1").code, Code::unschedulable);
}

TEST(Filters, ATrialIsUndoneExactly) {
  Random random(5);
  for (int round = 0; round < 200; ++round) {
    const ClusterFixture cluster_fixture = test::random_cluster(random);
    Cluster cluster;
    cluster_fixture.fill(cluster);
    const PodRef pod = view_of(cluster_fixture.incoming, cluster.symbols());
    const auto all = plugins();
    const Chain chain(all, cluster, *pod);
    if (!chain.prepared().ok()) continue;
    Trial trial(chain);
    for (const NodeView* node : cluster.nodes()) {
      trial.start(*node);
      const FitStatus before = chain.check(trial);
      for (const PodRef& other : node->pods) EXPECT_TRUE(trial.remove(*other).ok());
      for (const PodRef& other : node->pods) EXPECT_TRUE(trial.add(*other).ok());
      EXPECT_EQ(chain.check(trial), before);
    }
  }
}

TEST(Filters, APodPromisedToANodeCounts) {
  ClusterFixture cluster_fixture = three_nodes();
  Cluster cluster;
  cluster_fixture.fill(cluster);
  const PodRef pod = view_of(make_pod("p", 1000, "3000"), cluster.symbols());
  Nominator nominator;
  nominator.add(view_of(make_pod("promised", 1000, "3000"), cluster.symbols()), "a1");
  Finder finder(plugins());
  Random random(1);
  for (int i = 0; i < 20; ++i) {
    const Attempt attempt = finder.find(cluster, nominator, *pod, random);
    ASSERT_NE(attempt.node, nullptr);
    EXPECT_NE(attempt.node->name(), "a1");
  }
}

}  // namespace
}  // namespace holdfast::sync::schedule
