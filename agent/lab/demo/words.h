// How the demo's report and screen say things.

#pragma once

#include <cstddef>
#include <string>

#include "agent/lab/demo/history.h"

namespace holdfast::agent::demo {

// Why a promise about a later scene could not be judged.
inline constexpr const char* not_played = "the story did not get that far";

// "12.3 s"; truncates.
[[nodiscard]] std::string seconds(At at);

// "1 pod", "2 pods", "3 processes".
[[nodiscard]] std::string plural(std::size_t count, const std::string& noun);

}  // namespace holdfast::agent::demo
