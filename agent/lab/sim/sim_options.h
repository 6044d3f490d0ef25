// The options of a simulation that a scenario's flags ask for.

#pragma once

#include "agent/lab/scenario/scenario.h"
#include "agent/lab/sim/sim.h"
#include "platform/result.h"

namespace holdfast::agent::lab::sim {

// Errors: those of configuration_of().
[[nodiscard]] Result<SimOptions> options_of(const Scenario& scenario, std::uint64_t seed);

}  // namespace holdfast::agent::lab::sim
