// Aggregated discovery: all groups, versions and resources in one document
// (apidiscovery.k8s.io/v2), which clients ask for in their Accept header.

#pragma once

#include <boost/json/object.hpp>
#include <string_view>

#include "agent/lab/rules/catalog.h"

namespace holdfast::agent::lab {

inline constexpr std::string_view aggregated_type =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

// Whether the first acceptable form is the aggregated one.
[[nodiscard]] bool wants_aggregated(std::string_view accept);

// GET /api (`is_core`) and GET /apis.
[[nodiscard]] boost::json::object aggregated_discovery(const Catalog& catalog, bool is_core);

}  // namespace holdfast::agent::lab
