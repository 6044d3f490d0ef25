// Which events real processes can play.

#pragma once

#include <string>

#include "agent/lab/scenario/scenario.h"
#include "platform/result.h"

namespace holdfast::agent::lab::cluster {

// Why a cluster of real processes cannot play the action; "" if it can.
[[nodiscard]] std::string refusal_of(const Action& action);

// Checks that all events can be played. Errors: invalid, naming the lines of those that cannot, and
// that `sim` plays them. `file` is the scenario's name.
[[nodiscard]] Status check_events(const Scenario& scenario, const std::string& file);

}  // namespace holdfast::agent::lab::cluster
