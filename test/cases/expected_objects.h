// Compares the nodes and pods of a case's simulated API server with the expected ones.

#pragma once

#include <optional>
#include <string>

#include "test/cases/world.h"

namespace holdfast::cases {

// `wanted` contains the expectations by node name. Returns the first difference, or nullopt.
[[nodiscard]] std::optional<std::string> check_nodes(const json::object& wanted,
                                                     const World& world);
// The same for pods, by "namespace/name".
[[nodiscard]] std::optional<std::string> check_pods(const json::object& wanted, const World& world);

}  // namespace holdfast::cases
