#include "sync/schedule/scores.h"

#include <algorithm>
#include <cmath>

#include "platform/check.h"
#include "sync/objects/toleration.h"
#include "sync/schedule/node_matcher.h"

namespace holdfast::sync::schedule {
namespace {

std::int64_t room_left(std::int64_t requested, std::int64_t capacity) {
  if (requested > capacity) return 0;
  return (capacity - requested) * score_max / capacity;
}

double share(std::int64_t requested, std::int64_t capacity) {
  return std::min(1.0, static_cast<double>(requested) / static_cast<double>(capacity));
}

// The tolerations that can match taints with effect PreferNoSchedule.
std::vector<const Toleration*> preferring(const Pod& pod) {
  std::vector<const Toleration*> found;
  for (const Toleration& toleration : pod.spec.tolerations) {
    if (toleration.effect.empty() || toleration.effect == "PreferNoSchedule") {
      found.push_back(&toleration);
    }
  }
  return found;
}

std::int64_t disliked(const Node& node, const std::vector<const Toleration*>& tolerations) {
  return std::count_if(
      node.spec.taints.begin(), node.spec.taints.end(), [&tolerations](const Taint& taint) {
        return taint.effect == "PreferNoSchedule" &&
               std::none_of(tolerations.begin(), tolerations.end(), [&taint](const auto* each) {
                 return objects::tolerates(*each, taint, false);
               });
      });
}

void add(Scores& sum, const Scores& scores, std::int64_t weight) {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += scores[i] * weight;
}

}  // namespace

std::int64_t least_allocated(const PodView& pod, const NodeView& node,
                             const ResourceWeights& weights) {
  std::int64_t sum = 0;
  std::int64_t weight = 0;
  if (node.allocatable.milli_cpu > 0) {
    const std::int64_t requested = node.scored_cpu + pod.requests.scored_cpu;
    sum += room_left(requested, node.allocatable.milli_cpu) * weights.cpu;
    weight += weights.cpu;
  }
  if (node.allocatable.memory > 0) {
    const std::int64_t requested = node.scored_memory + pod.requests.scored_memory;
    sum += room_left(requested, node.allocatable.memory) * weights.memory;
    weight += weights.memory;
  }
  return weight == 0 ? 0 : sum / weight;
}

std::int64_t balanced_allocation(const PodView& pod, const NodeView& node) {
  const bool cpu = node.allocatable.milli_cpu > 0;
  const bool memory = node.allocatable.memory > 0;
  // A single resource is always balanced.
  if (!cpu || !memory) return score_max;
  const Resources& wanted = pod.requests.real;
  const double cpu_share =
      share(node.requested.milli_cpu + wanted.milli_cpu, node.allocatable.milli_cpu);
  const double memory_share = share(node.requested.memory + wanted.memory, node.allocatable.memory);
  const double deviation = std::abs(cpu_share - memory_share) / 2;
  return static_cast<std::int64_t>((1 - deviation) * static_cast<double>(score_max));
}

Scores taint_scores(const PodView& pod, const Nodes& nodes) {
  const auto tolerations = preferring(*pod.pod);
  Scores scores;
  scores.reserve(nodes.size());
  for (const NodeView* node : nodes) scores.push_back(disliked(*node->node, tolerations));
  normalize(scores, true);
  return scores;
}

Scores node_affinity_scores(const PodView& pod, const Nodes& nodes) {
  const NodePreference preference(pod.pod->spec);
  Scores scores(nodes.size(), 0);
  if (preference.empty()) return scores;
  for (std::size_t i = 0; i < nodes.size(); ++i) scores[i] = preference.weight(*nodes[i]->node);
  normalize(scores, false);
  return scores;
}

void normalize(Scores& scores, bool reverse) {
  const auto largest = std::max_element(scores.begin(), scores.end());
  const std::int64_t most = largest == scores.end() ? 0 : *largest;
  for (std::int64_t& score : scores) {
    if (most > 0) score = score * score_max / most;
    if (reverse) score = most > 0 ? score_max - score : score_max;
  }
}

Scores score(const PodView& pod, const Nodes& nodes, const ScoreWeights& weights) {
  Scores sum(nodes.size(), 0);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    sum[i] += least_allocated(pod, *nodes[i]) * weights.least_allocated;
    sum[i] += balanced_allocation(pod, *nodes[i]) * weights.balanced_allocation;
  }
  if (weights.taint_toleration != 0) {
    add(sum, taint_scores(pod, nodes), weights.taint_toleration);
  }
  if (weights.node_affinity != 0) {
    add(sum, node_affinity_scores(pod, nodes), weights.node_affinity);
  }
  return sum;
}

std::size_t select_host(const Scores& scores, Random& random) {
  CHECK(!scores.empty());
  // Reservoir sampling: the k-th of the best scores replaces the chosen one with probability 1/k.
  std::size_t chosen = 0;
  std::uint64_t ties = 1;
  for (std::size_t i = 1; i < scores.size(); ++i) {
    if (scores[i] > scores[chosen]) {
      chosen = i;
      ties = 1;
    } else if (scores[i] == scores[chosen] && random.below(++ties) == 0) {
      chosen = i;
    }
  }
  return chosen;
}

std::size_t feasible_enough(std::size_t nodes, int percentage) {
  constexpr std::size_t least = 100;
  if (nodes < least) return nodes;
  std::size_t share = static_cast<std::size_t>(percentage);
  if (percentage == 0)
    share = std::max<std::size_t>(50 - std::min<std::size_t>(nodes / 125, 50), 5);
  return share >= 100 ? nodes : std::max(nodes * share / 100, least);
}

}  // namespace holdfast::sync::schedule
