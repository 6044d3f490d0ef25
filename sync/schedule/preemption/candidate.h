// A node on which a pod would fit if others left, and who they are; who is more important than
// whom.

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
  std::vector<PodRef> victims;  // the most important one first
  std::int64_t violations = 0;  // of budgets
};

// Higher priority first, then the earlier start. A pod without a start time starts `now`. Strict:
// of equal pods none is more important.
[[nodiscard]] bool more_important(const PodView& left, const PodView& right, WallTime now);

// By importance; equal ones by namespace, name and uid, so that the order they came in is nothing.
void sort_by_importance(std::vector<PodRef>& pods, WallTime now);

// The earliest start among the pods of the highest priority. `pods` must not be empty.
[[nodiscard]] WallTime earliest_start(std::span<const PodRef> pods, WallTime now);

// Higher is better.
using CandidateScore = std::function<std::int64_t(const Candidate&)>;

// Upstream's chain: fewer violations; a lower first victim; a lower sum of priorities; fewer
// victims; a later earliest start.
[[nodiscard]] std::vector<CandidateScore> default_scores(WallTime now);

// The place of the best by the first score that tells them apart; of equals that with the smallest
// node name. `candidates` must not be empty. O(candidates * their victims).
[[nodiscard]] std::size_t choose(const std::vector<Candidate>& candidates,
                                 const std::vector<CandidateScore>& scores);

}  // namespace holdfast::sync::schedule
