// Discovery documents: the groups, versions and resources that the server has.
//
// The documents have upstream's order and form. discovery_aggregated.h has the form in which newer
// clients ask for all of them at once.

#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string_view>

#include "agent/lab/rules/catalog.h"

namespace holdfast::agent::lab {

// GET /version
[[nodiscard]] boost::json::object version_document();

// GET /api. `address` is the address at which clients reach the server: "127.0.0.1:7443".
[[nodiscard]] boost::json::object api_versions(std::string_view address);

// GET /apis
[[nodiscard]] boost::json::object group_list(const Catalog& catalog);

// GET /apis/GROUP; nothing for an unknown group.
[[nodiscard]] std::optional<boost::json::object> group_document(const Catalog& catalog,
                                                                std::string_view group);

// GET /api/v1 and /apis/GROUP/VERSION; nothing for an unknown version.
[[nodiscard]] std::optional<boost::json::object> resource_list(const Catalog& catalog,
                                                               std::string_view group,
                                                               std::string_view version);

// GET /
[[nodiscard]] boost::json::object root_paths(const Catalog& catalog);

}  // namespace holdfast::agent::lab
