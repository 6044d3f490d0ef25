// Invalid or contradictory objects: they get a clear message and do not stop the scheduler.

#include "test/unit/sync/schedule/cluster_fixture.h"

namespace holdfast::sync::schedule {
namespace {

using test::ClusterFixture;
using test::make_node;
using test::make_pod;

ClusterFixture one_node(Pod incoming) {
  ClusterFixture cluster_fixture;
  cluster_fixture.nodes.push_back(make_node("n1"));
  cluster_fixture.incoming = std::move(incoming);
  return cluster_fixture;
}

TEST(BadInput, AQuantityThatDoesNotParseIsNamed) {
  const auto message = [](std::string_view resource, std::string_view amount) {
    Pod pod = make_pod("p", 0, "100");
    pod.spec.containers[0].resources.requests.set(resource, amount);
    return test::run(one_node(pod)).message;
  };
  EXPECT_EQ(message("memory", "lots"),
            "0/1 nodes are available: parsing pod: spec.containers[0].resources.requests: memory: "
            "quantities must match the regular expression "
            "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'.");
  EXPECT_NE(message("example.com/gpu", "1x").find("example.com/gpu"), std::string::npos);
  EXPECT_EQ(message("memory", "-5"), "");
  Pod pod = make_pod("p", 0, "100");
  pod.spec.overhead.set("cpu", "?");
  EXPECT_NE(test::run(one_node(pod)).message.find("parsing pod: spec.overhead: cpu: "),
            std::string::npos);
}

TEST(BadInput, ANodeWhoseAmountsDoNotParseHasNone) {
  ClusterFixture cluster_fixture = one_node(make_pod("p", 0, "100"));
  cluster_fixture.nodes[0].status.allocatable.set("cpu", "many");
  EXPECT_EQ(test::run(cluster_fixture).message, "0/1 nodes are available: 1 Insufficient cpu.");
  Cluster cluster;
  cluster_fixture.fill(cluster);
  EXPECT_EQ(cluster.find("n1")->problem.substr(0, 25), "status.allocatable: cpu: ");
}

TEST(BadInput, ARunningPodThatCannotBeReadCountsAsNothing) {
  ClusterFixture cluster_fixture = one_node(make_pod("p", 0, "4000"));
  cluster_fixture.pods.push_back(make_pod("broken", 0, "abc", "n1"));
  EXPECT_EQ(test::run(cluster_fixture).node, "n1");
}

TEST(BadInput, AffinitiesThatContradictEachOtherMatchNoNode) {
  Pod pod = make_pod("p", 0, "100");
  pod.spec.affinity = Affinity{};
  NodeSelector& required = pod.spec.affinity->node_affinity.emplace().required.emplace();
  NodeSelectorTerm& term = required.node_selector_terms.emplace_back();
  term.match_expressions = {{"host", "In", {"n1"}, {}}, {"host", "NotIn", {"n1"}, {}}};
  const auto result = test::run(one_node(pod));
  EXPECT_EQ(result.message,
            "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector.");
  // Preemption does not help either.
  EXPECT_EQ(result.preemption.fit_status.message(),
            "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.");

  term = {};
  term.match_fields = {{"metadata.name", "In", {"n1"}, {}}, {"metadata.name", "In", {"n2"}, {}}};
  EXPECT_EQ(test::run(one_node(pod)).message,
            "0/1 nodes are available: pod affinity terms conflict.");

  Pod both = make_pod("p", 0, "100");
  both.metadata.labels.set("app", "a");
  test::add_affinity(both, test::term("app", "a", "host"));
  test::add_anti_affinity(both, test::term("app", "a", "host"));
  ClusterFixture cluster_fixture = one_node(both);
  cluster_fixture.pods.push_back(make_pod("other", 5000, "100", "n1"));
  cluster_fixture.pods.back().metadata.labels.set("app", "a");
  EXPECT_EQ(test::run(cluster_fixture).message,
            "0/1 nodes are available: 1 node(s) didn't match pod anti-affinity rules.");
}

TEST(BadInput, ANodeTermThatCannotBeReadMatchesNoNode) {
  const NodeSelectorRequirement rows[] = {
      {"host", "Is", {"n1"}, {}},       {"host", "In", {}, {}},
      {"host", "Exists", {"n1"}, {}},   {"host", "Gt", {"one"}, {}},
      {"host", "NotIn", {"-bad-"}, {}}, {"a/b/c", "DoesNotExist", {}, {}},
  };
  for (const NodeSelectorRequirement& row : rows) {
    Pod pod = make_pod("p", 0, "100");
    pod.spec.affinity = Affinity{};
    NodeSelector& required = pod.spec.affinity->node_affinity.emplace().required.emplace();
    required.node_selector_terms.emplace_back().match_expressions = {row};
    EXPECT_EQ(test::run(one_node(pod)).node, "") << row.operator_name;
  }
}

TEST(BadInput, SelectorsOfPodsThatCannotBeReadAreNamed) {
  Pod pod = make_pod("p", 0, "100");
  PodAffinityTerm term = test::term("app", "a", "host");
  term.label_selector->match_expressions = {{"app", "Like", {"a"}, {}}};
  test::add_anti_affinity(pod, term);
  EXPECT_EQ(test::run(one_node(pod)).message,
            "0/1 nodes are available: parsing pod: spec.affinity.podAntiAffinity[0]: "
            "labelSelector: \"Like\" is not a valid label selector operator.");

  Pod spread = make_pod("p", 0, "100");
  test::add_spread(spread, "host", "app", "-");
  EXPECT_EQ(test::run(one_node(spread)).message.substr(0, 74),
            "0/1 nodes are available: spec.topologySpreadConstraints[0].labelSelector: ");
}

TEST(BadInput, ABudgetWithABrokenSelectorProtectsNobody) {
  ClusterFixture cluster_fixture = one_node(make_pod("p", 1000, "3000"));
  cluster_fixture.pods.push_back(make_pod("v", 0, "3000", "n1"));
  cluster_fixture.pods.back().metadata.labels.set("app", "a");
  cluster_fixture.budgets.push_back(test::make_budget("broken", "app", "a", 0));
  cluster_fixture.budgets[0].spec.selector->match_expressions = {{"app", "In", {}, {}}};
  const auto result = test::run(cluster_fixture);
  ASSERT_TRUE(result.preemption.chosen);
  EXPECT_EQ(result.preemption.chosen->violations, 0);
  const auto problems = Budgets(cluster_fixture.budgets).problems();
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].substr(0, 52), "PodDisruptionBudget default/broken: spec.selector: v");
}

TEST(BadInput, ExtendersThatSayNonsenseAreAnError) {
  ClusterFixture cluster_fixture = one_node(make_pod("p", 1000, "3000"));
  cluster_fixture.pods.push_back(make_pod("v", 0, "3000", "n1"));
  Cluster cluster;
  cluster_fixture.fill(cluster);
  const auto ask = [&cluster_fixture, &cluster](const holdfast::Result<ExtenderAnswer>& answer,
                                                bool ignorable) {
    Candidate candidate{"n1", {cluster.find_pod("uid-v")}, 0};
    ExtenderRound round({{"http://x", true, ignorable, false, {}}}, cluster_fixture.incoming,
                        {candidate});
    round.answer(cluster, answer);
    return round;
  };
  EXPECT_EQ(ask(ExtenderAnswer{{"n9", {{"uid-v"}, 0}}}, false).fit_status().message(),
            "nodeinfo not found for node name \"n9\"");
  EXPECT_EQ(ask(ExtenderAnswer{{"n1", {{"uid-x"}, 0}}}, false).fit_status().message(),
            "extender: http://x claims to preempt pod (UID: uid-x) on node: n1, but the pod is not "
            "found on that node");
  const auto passed = ask(ExtenderAnswer{{"n9", {{"uid-v"}, 0}}}, true);
  EXPECT_TRUE(passed.fit_status().ok());
  EXPECT_EQ(passed.candidates().size(), 1u);
  EXPECT_EQ(passed.ignored().size(), 1u);
  EXPECT_EQ(ask(fail(Errc::timeout, "no answer in 5s"), false).fit_status().code, Code::error);
}

}  // namespace
}  // namespace holdfast::sync::schedule
