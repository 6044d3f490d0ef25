// The report: one self-contained HTML page.
// Pure functions from values to text. All text is escaped.

#pragma once

#include <string>
#include <vector>

#include "agent/lab/demo/checks.h"
#include "agent/lab/demo/tracks.h"

namespace holdfast::agent::demo {

// The timeline of an act as SVG: rows of nodes and pods over time.
[[nodiscard]] std::string timeline_svg(const Timeline& timeline);

[[nodiscard]] std::string report_page(const History& history, const DemoSetup& setup,
                                      const std::vector<CheckResult>& results);

}  // namespace holdfast::agent::demo
