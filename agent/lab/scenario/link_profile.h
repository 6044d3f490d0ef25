// The qualities of links: named profiles, and traces that were recorded.
//
// The figures of the named profiles. A round trip is twice the latency plus twice the mean jitter:
//   ethernet   24 ms: the average of fibre to the home in the FCC's reports "Measuring Broadband
//              America"; 100 Mbit/s both ways.
//   4g         53 ms, 14.7 Mbit/s down, 13.6 Mbit/s up: the average of Ofcom's measurements of
//              2014 ("Measuring mobile broadband performance in the UK", April 2015). Its loss of
//              0.1% is an assumption.
//   satellite  600 ms, 12 Mbit/s down, 3 Mbit/s up: geostationary. RFC 2488, section 2, has 239.6
//              to 279.0 ms of propagation each way, the rest is for the way on the ground and for
//              waiting. The rates are those that such services commonly offer; the loss of 0.5% is
//              an assumption.
//   nb-iot     2.4 s, 26 kbit/s down, 66 kbit/s up: a Cat NB1 device of 3GPP release 13 at its
//              best, for which latencies of 1.6 to 10 s are given. The loss of 1% is an assumption.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/lab/scenario/scenario.h"
#include "platform/result.h"

namespace holdfast::agent::lab {

// "ethernet", "4g", "satellite", "nb-iot".
[[nodiscard]] const std::vector<std::string_view>& profile_names();

// Nothing if the name is none of profile_names().
[[nodiscard]] std::optional<LinkProfile> named_profile(std::string_view name);

struct TraceLimits {
  std::size_t points = 100'000;
};

// Reads a trace from CSV. The first line names the columns, in any order:
//   at                               time since the scenario's start: seconds ("90", "0.5") or a
//                                    duration ("1m30s"); starts at 0 and grows from line to line
//   up_latency_ms, up_jitter_ms      one way, from the site to the cloud; milliseconds
//   up_loss                          fraction in [0, 1)
//   up_rate_kbit                     kilobits per second; 0: unlimited
//   down_...                         the same from the cloud to the site
//   cut                              1 or true while nothing passes, else 0 or false
// `at` is required; a column that is missing counts as 0. Empty lines and lines that start with '#'
// are skipped. A trace that repeats starts again at the time of its last point.
// Errors: invalid, naming file, line and column; exhausted (too many points).
[[nodiscard]] Result<std::vector<TracePoint>> parse_trace(const std::string& file,
                                                          std::string_view text,
                                                          const TraceLimits& limits = {});

}  // namespace holdfast::agent::lab
