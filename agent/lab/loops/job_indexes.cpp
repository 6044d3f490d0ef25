#include "agent/lab/loops/job_indexes.h"

#include <algorithm>
#include <iterator>

#include "platform/text.h"

namespace holdfast::agent::lab {

IndexSet IndexSet::parse(std::string_view text, std::int64_t below) {
  IndexSet set;
  for (const std::string_view part : split(text, ',')) {
    const std::size_t dash = part.find('-');
    const auto first = parse_int<std::int64_t>(part.substr(0, dash));
    const auto last =
        dash == std::string_view::npos ? first : parse_int<std::int64_t>(part.substr(dash + 1));
    if (!first || !last || *first < 0 || *first > *last || *first >= below) continue;
    set.add_range(*first, std::min(*last, below - 1));
  }
  return set;
}

void IndexSet::add_range(std::int64_t first, std::int64_t last) {
  auto next = ranges_.upper_bound(first);
  if (next != ranges_.begin()) {
    const auto before = std::prev(next);
    if (before->second >= first - 1) {
      first = before->first;
      last = std::max(last, before->second);
      ranges_.erase(before);
    }
  }
  while (next != ranges_.end() && next->first <= last + 1) {
    last = std::max(last, next->second);
    next = ranges_.erase(next);
  }
  ranges_.emplace(first, last);
}

bool IndexSet::contains(std::int64_t index) const {
  const auto next = ranges_.upper_bound(index);
  return next != ranges_.begin() && std::prev(next)->second >= index;
}

std::int64_t IndexSet::first_missing(std::int64_t from) const {
  const auto next = ranges_.upper_bound(from);
  if (next == ranges_.begin()) return from;
  return std::max(from, std::prev(next)->second + 1);
}

std::int64_t IndexSet::size() const {
  std::int64_t sum = 0;
  for (const auto& [first, last] : ranges_) sum += last - first + 1;
  return sum;
}

std::string IndexSet::text() const {
  std::string text;
  for (const auto& [first, last] : ranges_) {
    if (!text.empty()) text += ',';
    text += std::to_string(first);
    if (last > first) text += (last == first + 1 ? "," : "-") + std::to_string(last);
  }
  return text;
}

}  // namespace holdfast::agent::lab
