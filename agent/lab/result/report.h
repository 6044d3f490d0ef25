// The result as one HTML page: the answer, a timeline of links, readiness, taints and pods, charts,
// and tables. It needs nothing else: style, script and data are in it, and its content security
// policy allows no other script and no request.
//
// Every text is escaped, or becomes text in the page's script: names and messages may come from
// hostile manifests.

#pragma once

#include <string>

#include "agent/lab/result/result.h"

namespace holdfast::agent::lab {

// Pure. The same result gives the same bytes. Below 5 MB for a fleet of any size.
[[nodiscard]] std::string report_page(const RunResult& result);

}  // namespace holdfast::agent::lab
