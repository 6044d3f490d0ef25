// Properties of every preemption, checked on thousands of small random clusters.

#include <algorithm>

#include "test/unit/sync/schedule/world.h"

namespace holdfast::sync::schedule {
namespace {

using test::World;

constexpr int worlds = 3000;

const Pod& pod_named(const World& world, const std::string& name) {
  return *std::find_if(world.pods.begin(), world.pods.end(),
                       [&name](const Pod& pod) { return pod.metadata.name == name; });
}

std::vector<std::string> lower_on(const World& world, const std::string& node) {
  std::vector<std::string> names;
  for (const Pod& pod : world.pods) {
    if (pod.spec.node_name == node && *pod.spec.priority < *world.incoming.spec.priority) {
      names.push_back(pod.metadata.name);
    }
  }
  return names;
}

// Calls `use` for each world whose pod preempts. Returns the number of these worlds.
template <class Use>
int each_preemption(Use&& use) {
  int preempted = 0;
  for (int seed = 0; seed < worlds; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    const World world = test::random_world(random);
    const test::Result result = test::run(world);
    if (!result.preemption.chosen) continue;
    ++preempted;
    use(seed, world, result);
  }
  return preempted;
}

TEST(PreemptionProperties, ThePodFitsWhenItsVictimsAreGone) {
  const int preempted = each_preemption([](int seed, const World& world, const auto& result) {
    const std::string& node = result.preemption.chosen->node;
    EXPECT_TRUE(test::fits(world, node, result.victims()).ok()) << seed;
    EXPECT_FALSE(test::fits(world, node, {}).ok()) << seed;
  });
  EXPECT_GT(preempted, worlds / 5);
}

TEST(PreemptionProperties, OnlyLessImportantPodsOfTheNodeAreVictims) {
  each_preemption([](int seed, const World& world, const auto& result) {
    const auto names = result.victims();
    EXPECT_FALSE(names.empty()) << seed;
    for (const std::string& name : names) {
      const Pod& pod = pod_named(world, name);
      EXPECT_LT(*pod.spec.priority, *world.incoming.spec.priority) << seed;
      EXPECT_EQ(pod.spec.node_name, result.preemption.chosen->node) << seed;
      EXPECT_EQ(std::count(names.begin(), names.end(), name), 1) << seed;
    }
  });
}

TEST(PreemptionProperties, NoVictimCouldHaveStayed) {
  each_preemption([](int seed, const World& world, const auto& result) {
    const auto names = result.victims();
    for (const std::string& name : names) {
      auto others = names;
      std::erase(others, name);
      const FitStatus verdict = test::fits(world, result.preemption.chosen->node, others);
      EXPECT_FALSE(verdict.ok()) << seed << " " << name;
    }
  });
}

TEST(PreemptionProperties, TheOrderOfWhatComesInChangesNothing) {
  for (int seed = 0; seed < worlds; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    World world = test::random_world(random);
    const test::Result before = test::run(world);
    world.shuffle(random);
    const test::Result after = test::run(world);
    EXPECT_EQ(before.node, after.node) << seed;
    EXPECT_EQ(before.message, after.message) << seed;
    EXPECT_EQ(before.preemption.verdict, after.preemption.verdict) << seed;
    EXPECT_EQ(before.preemption.nomination, after.preemption.nomination) << seed;
    EXPECT_EQ(before.victims(), after.victims()) << seed;
  }
}

// Calls `use` with the result of a VictimSearch on each node that does not fit and has pods of
// lower priority.
template <class Use>
void each_search(const World& world, Use&& use) {
  Cluster cluster;
  world.fill(cluster);
  const PodRef pod = view_of(world.incoming, cluster.symbols());
  const auto all = plugins();
  const Chain chain(all, cluster, *pod);
  if (!chain.prepared().ok()) return;
  const Nominator nominator;
  const Budgets budgets(world.budgets);
  VictimSearch search(chain, nominator, budgets, test::wall_now);
  for (const NodeView* node : cluster.nodes()) {
    if (lower_on(world, node->name()).empty() || test::fits(world, node->name(), {}).ok()) continue;
    Candidate candidate;
    const FitStatus verdict = search.search(*node, candidate);
    use(node->name(), verdict, candidate);
  }
}

// A search rejects a node only if the pod does not fit without all pods of lower priority.
TEST(PreemptionProperties, EveryNodeThatCanBeFreedIsACandidate) {
  int candidates = 0;
  for (int seed = 0; seed < worlds; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    const World world = test::random_world(random);
    each_search(world, [&world, &candidates, seed](const std::string& node, const FitStatus& found,
                                                   const Candidate&) {
      const FitStatus wanted = test::fits(world, node, lower_on(world, node));
      EXPECT_EQ(found.ok(), wanted.ok()) << seed << " " << node;
      EXPECT_EQ(found.reasons, wanted.reasons) << seed << " " << node;
      candidates += found.ok() ? 1 : 0;
    });
  }
  EXPECT_GT(candidates, worlds / 2);
}

TEST(PreemptionProperties, NoOtherNodeWouldBreakFewerBudgets) {
  each_preemption([](int seed, const World& world, const auto& result) {
    const Candidate& chosen = *result.preemption.chosen;
    each_search(world, [&chosen, seed](const std::string& node, const FitStatus& verdict,
                                       const Candidate& candidate) {
      if (!verdict.ok()) return;
      EXPECT_GE(candidate.violations, chosen.violations) << seed << " " << node;
    });
  });
}

}  // namespace
}  // namespace holdfast::sync::schedule
