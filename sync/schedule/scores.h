// Which of the nodes that would do is best: 0 to 100 from each plugin, weighted and summed.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "platform/random.h"
#include "sync/schedule/cluster.h"
#include "sync/schedule/filter.h"

namespace holdfast::sync::schedule {

using Scores = std::vector<std::int64_t>;  // one for each node, in their order
using Nodes = std::vector<const NodeView*>;

inline constexpr std::int64_t score_max = 100;

struct ResourceWeights {
  std::int64_t cpu = 1;
  std::int64_t memory = 1;
};

// Upstream's default weights; 0 leaves a plugin out.
struct ScoreWeights {
  std::int64_t taint_toleration = 3;
  std::int64_t node_affinity = 2;
  std::int64_t least_allocated = 1;  // NodeResourcesFit
  std::int64_t balanced_allocation = 1;
};

// More room left is better; containers without requests count with upstream's defaults.
[[nodiscard]] std::int64_t least_allocated(const PodView& pod, const NodeView& node,
                                           const ResourceWeights& weights = {});
// As much of the cpu as of the memory in use is better.
[[nodiscard]] std::int64_t balanced_allocation(const PodView& pod, const NodeView& node);
// Fewer PreferNoSchedule taints that are not tolerated are better; normalised.
[[nodiscard]] Scores taint_scores(const PodView& pod, const Nodes& nodes);
// More weight of preferred node affinity is better; normalised.
[[nodiscard]] Scores node_affinity_scores(const PodView& pod, const Nodes& nodes);

// To 0..100 by the largest; reversed: the largest becomes 0.
void normalize(Scores& scores, bool reverse);

// O(nodes).
[[nodiscard]] Scores score(const PodView& pod, const Nodes& nodes, const ScoreWeights& weights);

// The place of one of the best, each as likely as the others. `scores` must not be empty.
[[nodiscard]] std::size_t select_host(const Scores& scores, Random& random);

// How many nodes that would do are enough among `nodes`; `percentage` 0: upstream's formula.
[[nodiscard]] std::size_t feasible_enough(std::size_t nodes, int percentage);

}  // namespace holdfast::sync::schedule
