// Scores of the nodes that fit: 0 to 100 from each plugin, weighted and summed; higher is better.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "platform/random.h"
#include "sync/schedule/cluster.h"
#include "sync/schedule/filter.h"

namespace holdfast::sync::schedule {

using Scores = std::vector<std::int64_t>;  // one for each node, in the order of the nodes
using Nodes = std::vector<const NodeView*>;

inline constexpr std::int64_t score_max = 100;

struct ResourceWeights {
  std::int64_t cpu = 1;
  std::int64_t memory = 1;
};

// Upstream's default weights; 0 disables a plugin.
struct ScoreWeights {
  std::int64_t taint_toleration = 3;
  std::int64_t node_affinity = 2;
  std::int64_t least_allocated = 1;  // NodeResourcesFit
  std::int64_t balanced_allocation = 1;
};

// Higher the more cpu and memory remain. Containers without requests count with upstream's
// defaults.
[[nodiscard]] std::int64_t least_allocated(const PodView& pod, const NodeView& node,
                                           const ResourceWeights& weights = {});
// Higher the closer the requested shares of cpu and memory are to each other.
[[nodiscard]] std::int64_t balanced_allocation(const PodView& pod, const NodeView& node);
// Higher the fewer PreferNoSchedule taints the pod does not tolerate; normalised.
[[nodiscard]] Scores taint_scores(const PodView& pod, const Nodes& nodes);
// Higher the more weight of preferred node affinity matches; normalised.
[[nodiscard]] Scores node_affinity_scores(const PodView& pod, const Nodes& nodes);

// Scales the scores so that the largest becomes 100. `reverse`: the largest becomes 0, zero 100.
void normalize(Scores& scores, bool reverse);

// The weighted sum of all plugins. O(nodes).
[[nodiscard]] Scores score(const PodView& pod, const Nodes& nodes, const ScoreWeights& weights);

// The index of a random one of the best scores. `scores` must not be empty.
[[nodiscard]] std::size_t select_host(const Scores& scores, Random& random);

// After how many feasible nodes a scan of `nodes` nodes may stop. `percentage` 0 selects upstream's
// formula, 5 to 50 percent by cluster size. At least 100, or all nodes.
[[nodiscard]] std::size_t feasible_enough(std::size_t nodes, int percentage);

}  // namespace holdfast::sync::schedule
