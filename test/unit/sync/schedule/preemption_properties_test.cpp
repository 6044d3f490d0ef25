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

// What is known of one random cluster, for all properties: making it costs more than checking them.
struct World {
  const ClusterFixture& cluster_fixture;
  const test::Result& result;
  test::Fits fits{cluster_fixture};
};

// The result of a VictimSearch on one node.
struct Searched {
  std::string node;
  FitStatus fit_status;
  Candidate candidate;
};

// Searches each node that does not fit and has pods of lower priority.
std::vector<Searched> search_all(const ClusterFixture& cluster_fixture) {
  std::vector<Searched> all_searched;
  Cluster cluster;
  cluster_fixture.fill(cluster);
  const PodRef pod = view_of(cluster_fixture.incoming, cluster.symbols());
  const auto all = plugins();
  const Chain chain(all, cluster, *pod);
  if (!chain.prepared().ok()) return all_searched;
  const Nominator nominator;
  const Budgets budgets(cluster_fixture.budgets);
  VictimSearch search(chain, nominator, budgets, test::wall_now);
  for (const NodeView* node : cluster.nodes()) {
    if (lower_on(cluster_fixture, node->name()).empty()) continue;
    Trial trial(chain);
    trial.start(*node);
    if (chain.check(trial).ok()) continue;
    Searched& searched = all_searched.emplace_back();
    searched.node = node->name();
    searched.fit_status = search.search(*node, searched.candidate);
  }
  return all_searched;
}

void expect_the_pod_fits_when_its_victims_are_gone(World& world) {
  const std::string& node = world.result.preemption.chosen->node;
  EXPECT_TRUE(world.fits.on(node, world.result.victims()).ok());
  EXPECT_FALSE(world.fits.on(node, {}).ok());
}

void expect_only_less_important_pods_of_the_node_are_victims(const World& world) {
  const auto names = world.result.victims();
  EXPECT_FALSE(names.empty());
  for (const std::string& name : names) {
    const Pod& pod = pod_named(world.cluster_fixture, name);
    EXPECT_LT(*pod.spec.priority, *world.cluster_fixture.incoming.spec.priority) << name;
    EXPECT_EQ(pod.spec.node_name, world.result.preemption.chosen->node) << name;
    EXPECT_EQ(std::count(names.begin(), names.end(), name), 1) << name;
  }
}

bool share_a_claim(const Pod& left, const Pod& right) {
  if (left.metadata.namespace_name != right.metadata.namespace_name) return false;
  for (const PodVolume& mine : left.spec.volumes) {
    for (const PodVolume& other : right.spec.volumes) {
      if (!mine.persistent_volume_claim || !other.persistent_volume_claim) continue;
      const std::string& name = other.persistent_volume_claim->claim_name;
      if (mine.persistent_volume_claim->claim_name == name) return true;
    }
  }
  return false;
}

void expect_no_victim_could_have_stayed(World& world) {
  const auto names = world.result.victims();
  // A volume that a pod on the node has attached is no new one. So a pod that stays can make room
  // under the limit of volumes for victims that were chosen before it was considered, as upstream.
  for (const Pod& pod : world.cluster_fixture.pods) {
    const bool stays = pod.spec.node_name == world.result.preemption.chosen->node &&
                       std::count(names.begin(), names.end(), pod.metadata.name) == 0;
    if (stays && share_a_claim(pod, world.cluster_fixture.incoming)) return;
  }
  for (const std::string& name : names) {
    auto others = names;
    std::erase(others, name);
    const std::string& node = world.result.preemption.chosen->node;
    EXPECT_FALSE(world.fits.on(node, others).ok()) << name;
  }
}

void expect_no_other_node_would_break_fewer_budgets(const World& world,
                                                    const std::vector<Searched>& all_searched) {
  const Candidate& chosen = *world.result.preemption.chosen;
  for (const Searched& searched : all_searched) {
    if (!searched.fit_status.ok()) continue;
    EXPECT_GE(searched.candidate.violations, chosen.violations) << searched.node;
  }
}

// A search rejects a node only if the pod does not fit without all pods of lower priority. Returns
// the number of candidates.
int expect_every_node_that_can_be_freed_is_a_candidate(World& world,
                                                       const std::vector<Searched>& all_searched) {
  int candidates = 0;
  for (const auto& [node, found, candidate] : all_searched) {
    const auto gone = lower_on(world.cluster_fixture, node);
    const FitStatus wanted = world.fits.on(node, gone);
    EXPECT_EQ(found.ok(), wanted.ok()) << node;
    EXPECT_EQ(found.reasons, wanted.reasons) << node;
    candidates += found.ok() ? 1 : 0;
  }
  return candidates;
}

void expect_the_order_of_what_comes_in_changes_nothing(const test::Result& before,
                                                       ClusterFixture cluster_fixture,
                                                       Random& random) {
  cluster_fixture.shuffle(random);
  const test::Result after = test::run(cluster_fixture);
  EXPECT_EQ(before.node, after.node);
  EXPECT_EQ(before.message, after.message);
  EXPECT_EQ(before.preemption.fit_status, after.preemption.fit_status);
  EXPECT_EQ(before.preemption.nomination, after.preemption.nomination);
  EXPECT_EQ(before.victims(), after.victims());
}

TEST(PreemptionProperties, HoldInEveryCluster) {
  int preempted = 0;
  int candidates = 0;
  for (int seed = 0; seed < worlds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(static_cast<std::uint64_t>(seed));
    ClusterFixture cluster_fixture = test::random_cluster(random);
    const test::Result result = test::run(cluster_fixture);
    World world{.cluster_fixture = cluster_fixture, .result = result};
    const std::vector<Searched> all_searched = search_all(cluster_fixture);
    candidates += expect_every_node_that_can_be_freed_is_a_candidate(world, all_searched);
    if (result.preemption.chosen) {
      ++preempted;
      expect_the_pod_fits_when_its_victims_are_gone(world);
      expect_only_less_important_pods_of_the_node_are_victims(world);
      expect_no_victim_could_have_stayed(world);
      expect_no_other_node_would_break_fewer_budgets(world, all_searched);
    }
    expect_the_order_of_what_comes_in_changes_nothing(result, std::move(cluster_fixture), random);
  }
  EXPECT_GT(preempted, worlds / 5);
  EXPECT_GT(candidates, worlds / 2);
}

}  // namespace
}  // namespace holdfast::sync::schedule
