// The version that every program prints and sends as its user agent.

#pragma once

#include <string_view>

namespace holdfast {

inline constexpr std::string_view version = "0.1.0";

}  // namespace holdfast
