// The JSON schemas of custom resources: whether a schema is acceptable, and what it does to values.
//
// Schemas are structural, as in apiextensions.k8s.io/v1. Rules in CEL (x-kubernetes-validations)
// are kept but not evaluated. Formats other than date-time, int32 and int64 are not checked.

#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <string>
#include <vector>

#include "sync/wire/field_error.h"

namespace holdfast::agent::lab {

struct SchemaLimits {
  std::size_t depth = 50;
  std::size_t nodes = 10'000;        // of one schema
  std::size_t pattern_bytes = 1000;  // of a regular expression
  std::size_t matched_bytes =
      10'000;                // of a text that is matched with one; longer ones are refused
  std::size_t errors = 100;  // of one object
};

// Checks a schema of a definition; `path` is the path of the schema. Errors name what is wrong in
// upstream's words where it checks the same.
void check_schema(sync::wire::FieldErrors& errors, const boost::json::object& schema,
                  const std::string& path);

// Whether the schema has rules that are not evaluated.
[[nodiscard]] bool has_rules(const boost::json::object& schema);

// Removes the fields that the schema does not declare, and adds their paths to `unknown`.
// `is_resource`: the value has apiVersion, kind and metadata, which stay.
void prune(boost::json::value& value, const boost::json::object& schema, bool is_resource,
           const std::string& path, std::vector<std::string>& unknown);

// Sets fields that are absent to the defaults of the schema.
void apply_schema_defaults(boost::json::value& value, const boost::json::object& schema);

// Validates a value. apiVersion, kind and metadata of the root have no schema and are not checked.
void validate_by_schema(sync::wire::FieldErrors& errors, const boost::json::value& value,
                        const boost::json::object& schema, const std::string& path);

}  // namespace holdfast::agent::lab
