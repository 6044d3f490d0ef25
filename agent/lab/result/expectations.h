// Compares what a scenario expects with what happened.

#pragma once

#include <vector>

#include "agent/lab/result/result.h"
#include "agent/lab/scenario/scenario.h"

namespace holdfast::agent::lab {

// One result for each expectation, in order; `found` says what was measured and, if the expectation
// is not met, where.
[[nodiscard]] std::vector<ExpectationResult> check_expectations(const Scenario& scenario,
                                                                const RunResult& result);

}  // namespace holdfast::agent::lab
