// Compares the nodes and pods of a case's simulated API server with the expected ones.

#pragma once

#include <optional>
#include <string>

#include "test/cases/simulated_api_server.h"

namespace holdfast::cases {

// `wanted` contains the expectations by node name. Returns the first difference, or nullopt.
[[nodiscard]] std::optional<std::string> check_nodes(const json::object& wanted,
                                                     const SimulatedApiServer& server);
// The same for pods, by "namespace/name".
[[nodiscard]] std::optional<std::string> check_pods(const json::object& wanted,
                                                    const SimulatedApiServer& server);

}  // namespace holdfast::cases
