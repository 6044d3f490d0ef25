// Scenarios drawn from a seed, for the search for violations.

#pragma once

#include <cstdint>
#include <functional>

#include "agent/lab/scenario/scenario.h"

namespace holdfast::agent::lab::sim {

// A small fleet with workloads, and faults that all end long enough before the scenario does. The
// same seed gives the same scenario.
[[nodiscard]] Scenario random_scenario(std::uint64_t seed);

// Removes events, workloads and sites from a scenario as long as `fails` still holds, and returns
// the smallest one found. `fails(scenario)` must hold.
[[nodiscard]] Scenario shrink(Scenario scenario, const std::function<bool(const Scenario&)>& fails);

}  // namespace holdfast::agent::lab::sim
