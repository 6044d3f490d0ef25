// Sets of completion indexes, in the form of a Job's status.completedIndexes: "0-2,5".

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace holdfast::agent::lab {

class IndexSet {
 public:
  // Parts that are not indexes, and indexes from `below` on, are ignored.
  [[nodiscard]] static IndexSet parse(std::string_view text, std::int64_t below);

  void add(std::int64_t index) { add_range(index, index); }
  [[nodiscard]] bool contains(std::int64_t index) const;
  // The first index from `from` on that is not in the set.
  [[nodiscard]] std::int64_t first_missing(std::int64_t from) const;
  [[nodiscard]] std::int64_t size() const;
  // Two neighbours are "4,5", more are "4-6".
  [[nodiscard]] std::string text() const;

 private:
  void add_range(std::int64_t first, std::int64_t last);

  std::map<std::int64_t, std::int64_t> ranges_;  // first -> last; they neither overlap nor touch
};

}  // namespace holdfast::agent::lab
