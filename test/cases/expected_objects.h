// Compares nodes and pods of a case's world with what the case expects of them.

#pragma once

#include <optional>
#include <string>

#include "test/cases/world.h"

namespace holdfast::cases {

// By node name. The first difference, or nothing.
[[nodiscard]] std::optional<std::string> check_nodes(const json::object& wanted,
                                                     const World& world);
// By "namespace/name".
[[nodiscard]] std::optional<std::string> check_pods(const json::object& wanted, const World& world);

}  // namespace holdfast::cases
