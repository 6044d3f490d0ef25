// A result as text for a terminal, 80 columns wide: the answer first, then workloads, sites or
// nodes, requests, evictions over time, expectations and a violation with its last events.

#pragma once

#include <string>

#include "agent/lab/result/columns.h"
#include "agent/lab/result/result.h"

namespace holdfast::agent::lab {

// Pure. Names and messages are escaped: a terminal would execute what is in them.
[[nodiscard]] std::string result_table(const RunResult& result, const Palette& palette = {});

}  // namespace holdfast::agent::lab
