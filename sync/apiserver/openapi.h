// The shape of our kinds as OpenAPI v3: what `kubectl explain` prints, `kubectl apply` merges by
// and every kubectl asks to learn that the server checks fields itself.

#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string_view>

namespace holdfast::sync {

// GET /openapi/v3: where the document of each group and version is.
[[nodiscard]] boost::json::object openapi_index();

// GET /openapi/v3/api/v1 and /openapi/v3/apis/GROUP/VERSION; nothing for one we do not have.
[[nodiscard]] std::optional<boost::json::object> openapi_document(std::string_view group,
                                                                  std::string_view version);

}  // namespace holdfast::sync
