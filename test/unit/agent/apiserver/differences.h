// Where our answers differ from the recorded ones on purpose, and why.

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
    value,       // the value at `path` is our own
    left_out,    // elements of the list at `path` that we do not have, by name
    added,       // elements of the list at `path` that only we have, by name
    order,       // the list at `path` is sorted by metadata.name
    first_line,  // of the text at `path` only the first line is the same
  };

  std::vector<std::size_t> exchanges;
  What what;
  std::string path;  // "/status/phase"; "" is the whole answer
  std::vector<std::string> names = {};
  std::string_view reason;
};

const std::vector<Deliberate>& deliberate();

// Takes the deliberate differences out of both answers. `used` collects the entries that had an
// effect, so that an entry that is not needed any more is noticed.
void apply_differences(std::size_t exchange, boost::json::value& recorded, boost::json::value& ours,
                       std::set<std::size_t>& used);

}  // namespace holdfast::test
