// The values that the report's script draws, as compact JSON. Internal to the report.
//
// All nodes count in the totals of their sites. Of a large fleet only the nodes to which most
// happened are there one by one, so that the page stays small: see the limits. Times are in
// seconds, rounded to milliseconds.

#pragma once

#include <string>

#include "agent/lab/result/result.h"

namespace holdfast::agent::lab {

struct PageLimits {
  std::size_t node_bytes = 2'500'000;  // of the JSON of single nodes
  std::size_t nodes = 3000;
  std::size_t sites = 300;
  std::size_t pods_per_node = 250;
  std::size_t spans = 300;  // of one lane; the longest are kept
  std::size_t faults = 2000;
  std::size_t values = 1500;     // of one series
  std::size_t steps = 40'000;    // of the lanes of all sites
  std::size_t name_bytes = 320;  // longer names are cut: a pod's and a namespace's have up to 317
};

// Safe inside of <script type="application/json">: `<`, `>` and `&` are escaped.
[[nodiscard]] std::string page_data(const RunResult& result, const PageLimits& limits = {});

}  // namespace holdfast::agent::lab
