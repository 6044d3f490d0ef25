// The schema of our kinds as OpenAPI v3. `kubectl explain` prints it, `kubectl apply` uses its
// merge rules, and every kubectl reads it to find out whether the server validates fields.

#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string_view>

#include "agent/lab/rules/catalog.h"

namespace holdfast::agent::lab {

// GET /openapi/v3: the paths of the documents of all groups and versions.
[[nodiscard]] boost::json::object openapi_index(const Catalog& catalog);

// GET /openapi/v3/api/v1 and /openapi/v3/apis/GROUP/VERSION; nothing for an unknown one.
[[nodiscard]] std::optional<boost::json::object> openapi_document(const Catalog& catalog,
                                                                  std::string_view group,
                                                                  std::string_view version);

}  // namespace holdfast::agent::lab
