// The schema of our kinds as OpenAPI v2, which kubectl before 1.30 reads before it creates objects:
// as JSON, or as the protobuf that these versions require.

#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>

#include "agent/lab/rules/catalog.h"

namespace holdfast::agent::lab {

inline constexpr std::string_view openapi_v2_protobuf_type =
    "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

// GET /openapi/v2. It has no paths, because clients only read the definitions.
[[nodiscard]] const boost::json::object& openapi_v2_document();

// The same document as gnostic's protobuf message openapi.v2.Document.
[[nodiscard]] const std::string& openapi_v2_protobuf();

// The same with the custom resources of a server.
[[nodiscard]] boost::json::object openapi_v2_document(const Catalog& catalog);
[[nodiscard]] std::string openapi_v2_protobuf(const Catalog& catalog);

}  // namespace holdfast::agent::lab
