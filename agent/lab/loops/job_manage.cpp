// Which pods a Job creates and drops.

#include <algorithm>
#include <boost/json.hpp>
#include <map>
#include <utility>

#include "agent/lab/loops/deadlines.h"
#include "agent/lab/loops/job_planner.h"

namespace holdfast::agent::lab {

namespace json = boost::json;

// These active pods are deleted by this plan.
void JobPlanner::leave(const Objects& pods) {
  active_count_ -= pods.size();
  terminating_ += static_cast<std::int64_t>(pods.size());
  for (const json::object* pod : pods) {
    if (is_ready(*pod)) --ready_;
  }
}

std::size_t JobPlanner::wanted() const {
  const auto parallelism = static_cast<std::size_t>(
      std::max<std::int64_t>(sync::wire::dig_int(spec_, {"parallelism"}), 0));
  // Without completions, a success means that the work is done: the others only finish.
  if (unlimited_) return succeeded_ > 0 ? active_.size() : parallelism;
  const std::int64_t left = std::max<std::int64_t>(completions_ - succeeded_, 0);
  return std::min(static_cast<std::size_t>(left), parallelism);
}

// The active pods to drop: at least `count`; with indexes, also those without a valid one, and all
// but one of each.
Objects JobPlanner::surplus(std::size_t count) const {
  Objects left = active_;
  sort_for_removal(left);
  Objects drop;
  if (indexed_) {
    std::map<std::int64_t, const json::object*> best;  // the last one is the most useful
    for (const json::object* pod : left) {
      const auto index = valid_index(*pod);
      if (!index) {
        drop.push_back(pod);
      } else if (const auto [at, first] = best.emplace(*index, pod); !first) {
        drop.push_back(std::exchange(at->second, pod));
      }
    }
    std::erase_if(left, [&drop](const json::object* pod) {
      return std::find(drop.begin(), drop.end(), pod) != drop.end();
    });
  }
  for (std::size_t at = 0; drop.size() < count && at < left.size(); ++at) drop.push_back(left[at]);
  return drop;
}

std::vector<std::int64_t> JobPlanner::pending_indexes(std::size_t count) const {
  IndexSet taken = indexes_;
  for (const json::object* pod : pods_) {
    const bool ending = waits_for_end() && sync::wire::is_terminating(*pod) && !is_finished(*pod);
    const auto index = valid_index(*pod);
    if (index && (is_active(*pod) || ending)) taken.add(*index);
  }
  std::vector<std::int64_t> found;
  std::int64_t next = taken.first_missing(0);
  while (next < completions_ && found.size() < count) {
    found.push_back(next);
    next = taken.first_missing(next + 1);
  }
  return found;
}

void JobPlanner::create(std::size_t count) {
  count = std::min(count, limits_.burst);
  if (!indexed_) {
    for (std::size_t made = 0; made < count; ++made)
      plan_.create.push_back(job_pod(job_, std::nullopt));
  } else {
    for (const std::int64_t index : pending_indexes(count))
      plan_.create.push_back(job_pod(job_, index));
  }
  active_count_ += plan_.create.size();
}

void JobPlanner::manage() {
  const std::size_t want = suspended_ ? 0 : wanted();
  const std::size_t too_many = active_.size() > want ? active_.size() - want : 0;
  Objects drop = surplus(too_many);
  if (drop.size() > limits_.burst && !suspended_) drop.resize(limits_.burst);
  if (!drop.empty()) {
    for (const json::object* pod : drop) plan_.drop.emplace_back(sync::wire::name_of(*pod));
    leave(drop);
    return;
  }
  const std::size_t ending = waits_for_end() ? static_cast<std::size_t>(terminating_) : 0;
  if (want <= active_.size() + ending) return;
  if (const Duration wait = remaining(plan_.backoff, now_); wait > Duration{}) {
    bring_forward(plan_.again, now_ + wait);
    return;
  }
  create(want - active_.size() - ending);
}

}  // namespace holdfast::agent::lab
