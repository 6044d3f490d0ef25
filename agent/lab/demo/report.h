// The report: one page of HTML that needs nothing but itself.
//
// Pure functions from values to text; whatever comes from outside is escaped.

#pragma once

#include <string>
#include <vector>

#include "agent/lab/demo/checks.h"
#include "agent/lab/demo/tracks.h"

namespace holdfast::agent::demo {

// An act: rows of nodes and pods over time.
[[nodiscard]] std::string timeline_svg(const Picture& picture);

[[nodiscard]] std::string report_page(const History& history, const Cast& cast,
                                      const std::vector<Verdict>& verdicts);

}  // namespace holdfast::agent::demo
