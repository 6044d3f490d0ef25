// The schema of one type as OpenAPI writes it, for both of its versions.

#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "sync/apiserver/resources.h"
#include "sync/schema/schema.h"

namespace holdfast::sync {

enum class OpenapiStyle : std::uint8_t { v2, v3 };

// "io.k8s.api.PodSpec": the name that a type has in a document.
[[nodiscard]] std::string definition_name(std::string_view type);

// Adds the type, everything that it refers to, and what all of them need.
void add_definitions(boost::json::object& schemas, const StructType& type, OpenapiStyle style);

// Adds the type of a served kind, tagged with what it is served as. A kind may be tagged often.
void add_kind(boost::json::object& schemas, const Resource& resource, const ServedVersion& version,
              OpenapiStyle style);

// {"group": "apps", "version": "v1", "kind": "Deployment"}
[[nodiscard]] boost::json::object kind_tag(const Resource& resource, const ServedVersion& version);

}  // namespace holdfast::sync
