// Nodes and pods for the tests of scheduling: by hand, and at random.

#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "platform/random.h"
#include "sync/schedule/filters/plugins.h"
#include "sync/schedule/preemption/preemption.h"

namespace holdfast::sync::schedule::test {

inline constexpr WallTime wall_now{std::chrono::seconds(1'800'000'000)};

// "NAME" with so many cores and GiB, room for 110 pods, and the label host=NAME.
[[nodiscard]] Node make_node(const std::string& name, int cores = 4, int gibibytes = 8);

// "default/NAME" with uid "uid-NAME", on `node` when that is not empty. One container.
[[nodiscard]] Pod make_pod(const std::string& name, int priority, const std::string& milli_cpu,
                           const std::string& node = {});

// A term: pods with this label, in this domain.
[[nodiscard]] PodAffinityTerm term(const std::string& label, const std::string& value,
                                   const std::string& topology_key);
void add_anti_affinity(Pod& pod, const PodAffinityTerm& term);
void add_affinity(Pod& pod, const PodAffinityTerm& term);
void add_spread(Pod& pod, const std::string& topology_key, const std::string& label,
                const std::string& value);

[[nodiscard]] PodDisruptionBudget make_budget(const std::string& name, const std::string& label,
                                              const std::string& value, int allowed);

// Everything an attempt looks at, before it is put together.
struct World {
  std::vector<Node> nodes;
  std::vector<Pod> pods;
  std::vector<PodDisruptionBudget> budgets;
  Pod incoming;

  void fill(Cluster& cluster) const;
  // In another order.
  void shuffle(Random& random);
};

// Full nodes, pods of every kind and an important one that wants in.
[[nodiscard]] World random_world(Random& random);

// What an attempt and, if there is no room, a preemption make of it.
struct Result {
  std::string node;     // found at once
  std::string message;  // why not
  PreemptionOutcome preemption;

  [[nodiscard]] std::vector<std::string> victims() const;
};
[[nodiscard]] Result run(const World& world, std::uint64_t seed = 1);

// Whether the pod may run on the node of a cluster that is as `world` without these pods.
[[nodiscard]] FitStatus fits(const World& world, const std::string& node,
                             const std::vector<std::string>& without);

}  // namespace holdfast::sync::schedule::test
