// Nodes and pods for the tests of scheduling, made by hand or at random.

#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "platform/random.h"
#include "sync/schedule/filters/plugins.h"
#include "sync/schedule/preemption/preemption.h"

namespace holdfast::sync::schedule::test {

inline constexpr WallTime wall_now{std::chrono::seconds(1'800'000'000)};

// A node with `cores` and `gibibytes`, room for 110 pods, and the label host=NAME.
[[nodiscard]] Node make_node(const std::string& name, int cores = 4, int gibibytes = 8);

// A pod "default/NAME" with uid "uid-NAME" and one container, on `node` if that is not empty.
[[nodiscard]] Pod make_pod(const std::string& name, int priority, const std::string& milli_cpu,
                           const std::string& node = {});

// An affinity term that selects pods with this label, in domains of `topology_key`.
[[nodiscard]] PodAffinityTerm term(const std::string& label, const std::string& value,
                                   const std::string& topology_key);
void add_anti_affinity(Pod& pod, const PodAffinityTerm& term);
void add_affinity(Pod& pod, const PodAffinityTerm& term);
void add_spread(Pod& pod, const std::string& topology_key, const std::string& label,
                const std::string& value);

[[nodiscard]] PodDisruptionBudget make_budget(const std::string& name, const std::string& label,
                                              const std::string& value, int allowed);

struct StorageFixture;

// The objects of a cluster, and the pod to schedule.
struct ClusterFixture {
  std::vector<Node> nodes;
  std::vector<Pod> pods;
  std::vector<PodDisruptionBudget> budgets;
  Pod incoming;
  // Claims and volumes; without it, all is known and there are none.
  std::shared_ptr<StorageFixture> storage;

  void fill(Cluster& cluster) const;
  // Reorders all objects.
  void shuffle(Random& random);
};

// A random cluster of nearly full nodes with various pods, and an incoming pod of high priority.
[[nodiscard]] ClusterFixture random_cluster(Random& random);

// The result of an attempt and, if no node fits, of a preemption.
struct Result {
  std::string node;     // of the attempt
  std::string message;  // why no node fits
  PreemptionOutcome preemption;

  [[nodiscard]] std::vector<std::string> victims() const;
};
[[nodiscard]] Result run(const ClusterFixture& cluster_fixture, std::uint64_t seed = 1);

// Tells whether the incoming pod of a cluster fits on a node. Filling the Cluster takes most of the
// time, so a test that asks several times keeps this. Refers to the fixture.
class Fits {
 public:
  explicit Fits(const ClusterFixture& cluster_fixture);

  // The answer after the pods named in `without` have left the cluster; they return afterwards.
  [[nodiscard]] FitStatus on(const std::string& node, const std::vector<std::string>& without);

 private:
  [[nodiscard]] FitStatus now(const std::string& node) const;

  const ClusterFixture& cluster_fixture_;
  Cluster cluster_;
  PodRef incoming_;
};
[[nodiscard]] FitStatus fits(const ClusterFixture& cluster_fixture, const std::string& node);

}  // namespace holdfast::sync::schedule::test
