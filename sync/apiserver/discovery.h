// What clients ask first: which groups, versions and resources there are.
//
// The documents have upstream's order and shape. The aggregated form (apidiscovery.k8s.io) is not
// served; clients that prefer it fall back to these.

#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string_view>

namespace holdfast::sync {

// GET /version
[[nodiscard]] boost::json::object version_document();

// GET /api; `address` is where clients reach us: "127.0.0.1:7443".
[[nodiscard]] boost::json::object api_versions(std::string_view address);

// GET /apis
[[nodiscard]] boost::json::object group_list();

// GET /apis/GROUP; nothing for a group we do not have.
[[nodiscard]] std::optional<boost::json::object> group_document(std::string_view group);

// GET /api/v1 and /apis/GROUP/VERSION; nothing for a version we do not have.
[[nodiscard]] std::optional<boost::json::object> resource_list(std::string_view group,
                                                               std::string_view version);

// GET /
[[nodiscard]] boost::json::object root_paths();

}  // namespace holdfast::sync
