#include "sync/schedule/preemption/candidate.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "platform/check.h"

namespace holdfast::sync::schedule {
namespace {

WallTime start_of(const PodView& pod, WallTime now) { return pod.started.value_or(now); }

// The sum of the priorities, each shifted above zero, so that an additional victim always costs
// more.
std::int64_t priority_sum(const Candidate& candidate) {
  constexpr std::int64_t shift = std::int64_t{std::numeric_limits<std::int32_t>::max()} + 1;
  std::int64_t sum = 0;
  for (const PodRef& victim : candidate.victims) sum += victim->priority + shift;
  return sum;
}

}  // namespace

bool more_important(const PodView& left, const PodView& right, WallTime now) {
  if (left.priority != right.priority) return left.priority > right.priority;
  return start_of(left, now) < start_of(right, now);
}

void sort_by_importance(std::vector<PodRef>& pods, WallTime now) {
  std::sort(pods.begin(), pods.end(), [now](const PodRef& left, const PodRef& right) {
    if (more_important(*left, *right, now)) return true;
    if (more_important(*right, *left, now)) return false;
    return std::tie(left->namespace_name(), left->name(), left->uid()) <
           std::tie(right->namespace_name(), right->name(), right->uid());
  });
}

WallTime earliest_start(std::span<const PodRef> pods, WallTime now) {
  CHECK(!pods.empty());
  WallTime earliest = start_of(*pods.front(), now);
  std::int32_t highest = pods.front()->priority;
  for (const PodRef& pod : pods) {
    const WallTime start = start_of(*pod, now);
    if (pod->priority > highest || (pod->priority == highest && start < earliest)) {
      highest = pod->priority;
      earliest = start;
    }
  }
  return earliest;
}

std::vector<CandidateScore> default_scores(WallTime now) {
  return {
      [](const Candidate& each) { return -each.violations; },
      [](const Candidate& each) { return -std::int64_t{each.victims.front()->priority}; },
      [](const Candidate& each) { return -priority_sum(each); },
      [](const Candidate& each) { return -static_cast<std::int64_t>(each.victims.size()); },
      [now](const Candidate& each) {
        return std::int64_t{earliest_start(each.victims, now).time_since_epoch().count()};
      },
  };
}

std::size_t choose(const std::vector<Candidate>& candidates,
                   const std::vector<CandidateScore>& scores) {
  CHECK(!candidates.empty());
  std::vector<std::size_t> left(candidates.size());
  for (std::size_t i = 0; i < left.size(); ++i) left[i] = i;
  for (const CandidateScore& score : scores) {
    if (left.size() == 1) break;
    std::int64_t best = std::numeric_limits<std::int64_t>::min();
    std::vector<std::size_t> equal;
    for (const std::size_t i : left) {
      const std::int64_t value = score(candidates[i]);
      if (value > best) equal.clear();
      if (value >= best) equal.push_back(i);
      best = std::max(best, value);
    }
    left = std::move(equal);
  }
  return *std::min_element(left.begin(), left.end(), [&candidates](std::size_t a, std::size_t b) {
    return candidates[a].node < candidates[b].node;
  });
}

}  // namespace holdfast::sync::schedule
