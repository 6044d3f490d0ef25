// Compares what a case expects after a step with what happened.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "test/cases/driver.h"

namespace holdfast::cases {

// The first difference, or nullopt. An unknown key of `expected` is a difference, too. `variant`
// determines the names of the event sources.
[[nodiscard]] std::optional<std::string> first_difference(const json::object& expected,
                                                          const Driver& driver,
                                                          std::string_view variant);

}  // namespace holdfast::cases
