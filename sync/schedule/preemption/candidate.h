// Candidates of a preemption: a node on which the pod would fit, and the victims that must be
// deleted for it. Also the order of pods by importance, and the choice of the best candidate.

#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "sync/schedule/pod_view.h"

namespace holdfast::sync::schedule {

struct Candidate {
  std::string node;
  std::vector<PodRef> victims;  // by importance
  std::int64_t violations = 0;  // victims whose deletion violates a PodDisruptionBudget
};

// Whether `left` has a higher priority, or the same and an earlier start. A pod without a start
// time counts as started `now`. False for equal pods.
[[nodiscard]] bool more_important(const PodView& left, const PodView& right, WallTime now);

// Sorts by importance, the most important pod first. Equal pods are sorted by namespace, name and
// uid, so that the result does not depend on the initial order.
void sort_by_importance(std::vector<PodRef>& pods, WallTime now);

// The earliest start among the pods of the highest priority. `pods` must not be empty.
[[nodiscard]] WallTime earliest_start(std::span<const PodRef> pods, WallTime now);

// Higher is better.
using CandidateScore = std::function<std::int64_t(const Candidate&)>;

// Upstream's criteria in order: fewer violations; a lower priority of the first victim; a lower sum
// of priorities; fewer victims; a later start of the highest-priority victim that started first.
[[nodiscard]] std::vector<CandidateScore> default_scores(WallTime now);

// The index of the best candidate by the first score that differs; of equal candidates, the one
// with the smallest node name. `candidates` must not be empty. O(candidates * their victims).
[[nodiscard]] std::size_t choose(const std::vector<Candidate>& candidates,
                                 const std::vector<CandidateScore>& scores);

}  // namespace holdfast::sync::schedule
