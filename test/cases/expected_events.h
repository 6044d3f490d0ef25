// Compares the recorded events with those that a case expects.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sync/lifecycle/effects.h"
#include "test/cases/fields.h"

namespace holdfast::cases {

// The first difference, or nullopt. `wanted` is a list of partial events, each with the number of
// events that match it (1 by default). With `exact`, other events are a difference, too.
[[nodiscard]] std::optional<std::string> check_events(
    const json::array& wanted, const std::vector<sync::lifecycle::RecordEvent>& found,
    std::string_view variant, bool exact);

}  // namespace holdfast::cases
