// Properties of every preemption, checked on thousands of small random clusters.

#include <algorithm>

#include "test/unit/sync/schedule/cluster_fixture.h"

namespace holdfast::sync::schedule {
namespace {

using test::ClusterFixture;

constexpr int worlds = 3000;

const Pod& pod_named(const ClusterFixture& cluster_fixture, const std::string& name) {
  return *std::find_if(cluster_fixture.pods.begin(), cluster_fixture.pods.end(),
                       [&name](const Pod& pod) { return pod.metadata.name == name; });
}

std::vector<std::string> lower_on(const ClusterFixture& cluster_fixture, const std::string& node) {
  std::vector<std::string> names;
  for (const Pod& pod : cluster_fixture.pods) {
    if (pod.spec.node_name == node &&
        *pod.spec.priority < *cluster_fixture.incoming.spec.priority) {
      names.push_back(pod.metadata.name);
    }
  }
  return names;
}

// Calls `use` for each random cluster whose pod preempts. Returns the number of these clusters.
template <class Use>
int each_preemption(Use&& use) {
  int preempted = 0;
  for (int seed = 0; seed < worlds; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    const ClusterFixture cluster_fixture = test::random_cluster(random);
    const test::Result result = test::run(cluster_fixture);
    if (!result.preemption.chosen) continue;
    ++preempted;
    use(seed, cluster_fixture, result);
  }
  return preempted;
}

TEST(PreemptionProperties, ThePodFitsWhenItsVictimsAreGone) {
  const int preempted =
      each_preemption([](int seed, const ClusterFixture& cluster_fixture, const auto& result) {
        const std::string& node = result.preemption.chosen->node;
        EXPECT_TRUE(test::fits(cluster_fixture, node, result.victims()).ok()) << seed;
        EXPECT_FALSE(test::fits(cluster_fixture, node, {}).ok()) << seed;
      });
  EXPECT_GT(preempted, worlds / 5);
}

TEST(PreemptionProperties, OnlyLessImportantPodsOfTheNodeAreVictims) {
  each_preemption([](int seed, const ClusterFixture& cluster_fixture, const auto& result) {
    const auto names = result.victims();
    EXPECT_FALSE(names.empty()) << seed;
    for (const std::string& name : names) {
      const Pod& pod = pod_named(cluster_fixture, name);
      EXPECT_LT(*pod.spec.priority, *cluster_fixture.incoming.spec.priority) << seed;
      EXPECT_EQ(pod.spec.node_name, result.preemption.chosen->node) << seed;
      EXPECT_EQ(std::count(names.begin(), names.end(), name), 1) << seed;
    }
  });
}

TEST(PreemptionProperties, NoVictimCouldHaveStayed) {
  each_preemption([](int seed, const ClusterFixture& cluster_fixture, const auto& result) {
    const auto names = result.victims();
    for (const std::string& name : names) {
      auto others = names;
      std::erase(others, name);
      const FitStatus fit_status =
          test::fits(cluster_fixture, result.preemption.chosen->node, others);
      EXPECT_FALSE(fit_status.ok()) << seed << " " << name;
    }
  });
}

TEST(PreemptionProperties, TheOrderOfWhatComesInChangesNothing) {
  for (int seed = 0; seed < worlds; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    ClusterFixture cluster_fixture = test::random_cluster(random);
    const test::Result before = test::run(cluster_fixture);
    cluster_fixture.shuffle(random);
    const test::Result after = test::run(cluster_fixture);
    EXPECT_EQ(before.node, after.node) << seed;
    EXPECT_EQ(before.message, after.message) << seed;
    EXPECT_EQ(before.preemption.fit_status, after.preemption.fit_status) << seed;
    EXPECT_EQ(before.preemption.nomination, after.preemption.nomination) << seed;
    EXPECT_EQ(before.victims(), after.victims()) << seed;
  }
}

// Calls `use` with the result of a VictimSearch on each node that does not fit and has pods of
// lower priority.
template <class Use>
void each_search(const ClusterFixture& cluster_fixture, Use&& use) {
  Cluster cluster;
  cluster_fixture.fill(cluster);
  const PodRef pod = view_of(cluster_fixture.incoming, cluster.symbols());
  const auto all = plugins();
  const Chain chain(all, cluster, *pod);
  if (!chain.prepared().ok()) return;
  const Nominator nominator;
  const Budgets budgets(cluster_fixture.budgets);
  VictimSearch search(chain, nominator, budgets, test::wall_now);
  for (const NodeView* node : cluster.nodes()) {
    if (lower_on(cluster_fixture, node->name()).empty() ||
        test::fits(cluster_fixture, node->name(), {}).ok())
      continue;
    Candidate candidate;
    const FitStatus fit_status = search.search(*node, candidate);
    use(node->name(), fit_status, candidate);
  }
}

// A search rejects a node only if the pod does not fit without all pods of lower priority.
TEST(PreemptionProperties, EveryNodeThatCanBeFreedIsACandidate) {
  int candidates = 0;
  for (int seed = 0; seed < worlds; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    const ClusterFixture cluster_fixture = test::random_cluster(random);
    each_search(cluster_fixture, [&cluster_fixture, &candidates, seed](const std::string& node,
                                                                       const FitStatus& found,
                                                                       const Candidate&) {
      const FitStatus wanted = test::fits(cluster_fixture, node, lower_on(cluster_fixture, node));
      EXPECT_EQ(found.ok(), wanted.ok()) << seed << " " << node;
      EXPECT_EQ(found.reasons, wanted.reasons) << seed << " " << node;
      candidates += found.ok() ? 1 : 0;
    });
  }
  EXPECT_GT(candidates, worlds / 2);
}

TEST(PreemptionProperties, NoOtherNodeWouldBreakFewerBudgets) {
  each_preemption([](int seed, const ClusterFixture& cluster_fixture, const auto& result) {
    const Candidate& chosen = *result.preemption.chosen;
    each_search(cluster_fixture,
                [&chosen, seed](const std::string& node, const FitStatus& fit_status,
                                const Candidate& candidate) {
                  if (!fit_status.ok()) return;
                  EXPECT_GE(candidate.violations, chosen.violations) << seed << " " << node;
                });
  });
}

}  // namespace
}  // namespace holdfast::sync::schedule
