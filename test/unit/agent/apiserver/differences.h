// The deliberate differences between our answers and the recorded ones, with their reasons.

#pragma once

#include <boost/json.hpp>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::test {

struct Deliberate {
  enum class What {
    value,       // the value at `path` differs
    left_out,    // the list at `path` lacks these elements, by name
    added,       // the list at `path` has these additional elements, by name
    order,       // the list at `path` is sorted by metadata.name
    first_line,  // only the first line of the text at `path` is compared
  };

  std::vector<std::size_t> exchanges;
  What what;
  std::string path;  // for example "/status/phase"; "" is the whole answer
  std::vector<std::string> names = {};
  std::string_view reason;
};

const std::vector<Deliberate>& deliberate();

// Removes the deliberate differences from both answers. Adds the indices of the entries that had an
// effect to `used`, so that the test can report entries that are no longer needed.
void apply_differences(std::size_t exchange, boost::json::value& recorded, boost::json::value& ours,
                       std::set<std::size_t>& used);

}  // namespace holdfast::test
