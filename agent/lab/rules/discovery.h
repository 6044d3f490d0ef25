// Discovery documents: the groups, versions and resources that the server has.
//
// The documents have upstream's order and form. The aggregated form (apidiscovery.k8s.io) is not
// served; clients that prefer it fall back to these.

#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string_view>

namespace holdfast::agent::lab {

// GET /version
[[nodiscard]] boost::json::object version_document();

// GET /api. `address` is the address at which clients reach the server: "127.0.0.1:7443".
[[nodiscard]] boost::json::object api_versions(std::string_view address);

// GET /apis
[[nodiscard]] boost::json::object group_list();

// GET /apis/GROUP; nothing for an unknown group.
[[nodiscard]] std::optional<boost::json::object> group_document(std::string_view group);

// GET /api/v1 and /apis/GROUP/VERSION; nothing for an unknown version.
[[nodiscard]] std::optional<boost::json::object> resource_list(std::string_view group,
                                                               std::string_view version);

// GET /
[[nodiscard]] boost::json::object root_paths();

}  // namespace holdfast::agent::lab
