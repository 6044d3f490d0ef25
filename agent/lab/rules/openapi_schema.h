// Generates the schema of one type for OpenAPI v2 and v3.

#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "agent/lab/rules/custom_resource.h"
#include "sync/model/schema.h"
#include "sync/printing/resources.h"

namespace holdfast::agent::lab {

enum class OpenapiStyle : std::uint8_t { v2, v3 };

// "io.k8s.api.PodSpec": the name of a type in a document.
[[nodiscard]] std::string definition_name(std::string_view type);

// Adds the type and all types that it refers to.
void add_definitions(boost::json::object& schemas, const sync::StructType& type,
                     OpenapiStyle style);

// Adds the type of a served kind, tagged with group, version and kind. A type may have several
// tags.
void add_kind(boost::json::object& schemas, const sync::printing::Resource& resource,
              const sync::printing::ServedVersion& version, OpenapiStyle style);

// Adds the type of a custom resource, with the fields that every object has.
void add_custom_kind(boost::json::object& schemas, const CustomResource& custom,
                     const sync::printing::ServedVersion& version, OpenapiStyle style);

// {"group": "apps", "version": "v1", "kind": "Deployment"}
[[nodiscard]] boost::json::object kind_tag(const sync::printing::Resource& resource,
                                           const sync::printing::ServedVersion& version);

}  // namespace holdfast::agent::lab
