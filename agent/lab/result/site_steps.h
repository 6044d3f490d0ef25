// How many nodes of a site are in a state, over time. Internal to the report.

#pragma once

#include <map>
#include <string>
#include <vector>

#include "agent/lab/result/result.h"

namespace holdfast::agent::lab {

struct Step {
  Duration at{};
  int count = 0;  // from then on
  bool operator==(const Step&) const = default;
};

struct SiteSteps {
  std::vector<Step> cut;  // link cut or power off
  std::vector<Step> not_ready;
  std::vector<Step> tainted;
  std::vector<Step> withheld;
  std::vector<Step> evictions;  // each: so many pods at that time
};

// By site. At most about `most` steps each: of those close to each other the highest is kept. All
// times are within the run.
[[nodiscard]] std::map<std::string, SiteSteps> site_steps(const RunResult& result,
                                                          std::size_t most);

}  // namespace holdfast::agent::lab
