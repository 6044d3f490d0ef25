// Formats texts for the demo's report and screen.

#pragma once

#include <cstddef>
#include <string>

#include "agent/lab/demo/history.h"

namespace holdfast::agent::demo {

// The detail of a check whose part of the script was not reached.
inline constexpr const char* not_played = "the story did not get that far";

// "12.3 s"; truncates.
[[nodiscard]] std::string seconds(DemoTime at);

// "1 pod", "2 pods", "3 processes".
[[nodiscard]] std::string plural(std::size_t count, const std::string& noun);

}  // namespace holdfast::agent::demo
