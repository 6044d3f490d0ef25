// Formats texts for the demo's report and screen.

#pragma once

#include <string>

#include "agent/lab/demo/history.h"
#include "agent/lab/result/words.h"

namespace holdfast::agent::demo {

// The detail of a check whose part of the script was not reached.
inline constexpr const char* not_played = "the story did not get that far";

// "12.3 s"; truncates.
[[nodiscard]] std::string seconds(DemoTime at);

using lab::plural;

}  // namespace holdfast::agent::demo
