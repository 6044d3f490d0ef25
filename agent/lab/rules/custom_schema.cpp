// Checks schemas; prunes values and sets defaults. validate_custom.cpp validates values.

#include "agent/lab/rules/custom_schema.h"

#include <algorithm>
#include <boost/json.hpp>

#include "agent/lab/rules/pattern.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;
using sync::wire::child;

constexpr SchemaLimits schema_limits;

constexpr std::string_view schema_types[] = {"array",  "boolean", "integer",
                                             "number", "object",  "string"};

// The schemas inside of a schema: properties, items, additionalProperties.
template <class Visit>
void each_child(const json::object& schema, const std::string& path, const Visit& visit) {
  for (const json::key_value_pair& pair : sync::wire::dig_object(schema, {"properties"})) {
    visit(sync::wire::as_object(pair.value()),
          sync::wire::at(child(path, "properties"), std::string_view(pair.key())));
  }
  for (const std::string_view name : {"items", "additionalProperties"}) {
    const json::value* found = schema.if_contains(name);
    if (found != nullptr && found->is_object()) visit(found->get_object(), child(path, name));
  }
}

bool is_int_or_string(const json::object& schema) {
  return sync::wire::dig_bool(schema, {"x-kubernetes-int-or-string"});
}

bool preserves_unknown(const json::object& schema) {
  return sync::wire::dig_bool(schema, {"x-kubernetes-preserve-unknown-fields"});
}

void check_pattern(sync::wire::FieldErrors& errors, const json::object& schema,
                   const std::string& path) {
  const std::string pattern(sync::wire::dig_text(schema, {"pattern"}));
  if (pattern.size() > schema_limits.pattern_bytes) {
    errors.push_back(
        sync::wire::field::too_long(child(path, "pattern"), schema_limits.pattern_bytes));
    return;
  }
  const std::string problem = pattern_problem(pattern);
  if (problem.empty()) return;
  errors.push_back(
      sync::wire::field::invalid(child(path, "pattern"), pattern,
                                 "must be a valid regular expression, but isn't: " + problem));
}

void check_list_type(sync::wire::FieldErrors& errors, const json::object& schema,
                     const std::string& path) {
  const std::string_view list = sync::wire::dig_text(schema, {"x-kubernetes-list-type"});
  if (list.empty()) return;
  constexpr std::string_view known[] = {"atomic", "set", "map"};
  if (std::find(std::begin(known), std::end(known), list) == std::end(known)) {
    errors.push_back(
        sync::wire::field::not_supported(child(path, "x-kubernetes-list-type"), list, known));
  }
  const bool keyed = !sync::wire::dig_list(schema, {"x-kubernetes-list-map-keys"}).empty();
  if (list == "map" && !keyed) {
    errors.push_back(
        sync::wire::field::required(child(path, "x-kubernetes-list-map-keys"),
                                    "must not be empty if x-kubernetes-list-type is map"));
  }
}

struct SchemaCheck {
  sync::wire::FieldErrors& errors;
  std::size_t nodes = 0;

  void check(const json::object& schema, const std::string& path, std::size_t depth) {
    if (++nodes == schema_limits.nodes + 1) {
      errors.push_back(sync::wire::field::too_many(path, nodes, schema_limits.nodes));
    }
    if (depth > schema_limits.depth) {
      errors.push_back(sync::wire::field::invalid(
          path, "", "must not be nested deeper than " + std::to_string(schema_limits.depth)));
    }
    if (nodes > schema_limits.nodes || depth > schema_limits.depth) return;
    check_type(schema, path);
    if (schema.contains("pattern")) check_pattern(errors, schema, path);
    check_list_type(errors, schema, path);
    for (const std::string_view name : {"$ref", "definitions", "dependencies", "id"}) {
      if (schema.contains(name)) {
        errors.push_back(sync::wire::field::forbidden(child(path, name),
                                                      std::string(name) + " is not supported"));
      }
    }
    each_child(schema, path, [this, depth](const json::object& inner, const std::string& below) {
      check(inner, below, depth + 1);
    });
  }

  void check_type(const json::object& schema, const std::string& path) {
    const std::string_view type = sync::wire::dig_text(schema, {"type"});
    const bool free = is_int_or_string(schema) || preserves_unknown(schema);
    if (type.empty() && !free) {
      errors.push_back(sync::wire::field::required(child(path, "type"),
                                                   "must not be empty for specified object "
                                                   "fields"));
    } else if (!type.empty() && std::find(std::begin(schema_types), std::end(schema_types), type) ==
                                    std::end(schema_types)) {
      errors.push_back(sync::wire::field::not_supported(child(path, "type"), type, schema_types));
    }
    const json::value* items = schema.if_contains("items");
    if (type == "array" && (items == nullptr || !items->is_object())) {
      errors.push_back(sync::wire::field::required(child(path, "items"), "must be specified"));
    }
  }
};

bool keeps_field(std::string_view name, bool is_resource) {
  return is_resource && (name == "apiVersion" || name == "kind" || name == "metadata");
}

// The schema of a field; nullptr if it is not declared. `declared` is also true for a field of any
// content.
const json::object* schema_of(const json::object& schema, std::string_view name, bool& declared) {
  const json::value* found = sync::wire::dig_object(schema, {"properties"}).if_contains(name);
  if (found == nullptr) found = schema.if_contains("additionalProperties");
  declared = found != nullptr && !(found->is_bool() && !found->get_bool());
  return found != nullptr && found->is_object() ? &found->get_object() : nullptr;
}

}  // namespace

void check_schema(sync::wire::FieldErrors& errors, const json::object& schema,
                  const std::string& path) {
  if (sync::wire::dig_text(schema, {"type"}) != "object") {
    errors.push_back(sync::wire::field::invalid(
        child(path, "type"), sync::wire::dig_text(schema, {"type"}), "must be object at the root"));
    return;
  }
  SchemaCheck{errors}.check(schema, path, 0);
}

bool has_rules(const json::object& schema) {
  if (schema.contains("x-kubernetes-validations")) return true;
  bool found = false;
  each_child(schema, "", [&found](const json::object& inner, const std::string& /*path*/) {
    found = found || has_rules(inner);
  });
  return found;
}

void prune(json::value& value, const json::object& schema, bool is_resource,
           const std::string& path, std::vector<std::string>& unknown) {
  if (value.is_array()) {
    const json::object& items = sync::wire::dig_object(schema, {"items"});
    for (std::size_t at = 0; at < value.get_array().size(); ++at) {
      const bool resource = sync::wire::dig_bool(items, {"x-kubernetes-embedded-resource"});
      prune(value.get_array()[at], items, resource, sync::wire::at(path, at), unknown);
    }
    return;
  }
  if (!value.is_object()) return;
  json::object made;
  for (json::key_value_pair& pair : value.get_object()) {
    bool declared = false;
    const json::object* inner = schema_of(schema, pair.key(), declared);
    const std::string below = path.empty() ? std::string(pair.key()) : child(path, pair.key());
    if (!keeps_field(pair.key(), is_resource) && !declared && !preserves_unknown(schema)) {
      unknown.push_back(below);
      continue;
    }
    const bool whole = keeps_field(pair.key(), is_resource) && inner == nullptr;
    if (inner != nullptr && !whole) {
      const bool resource = sync::wire::dig_bool(*inner, {"x-kubernetes-embedded-resource"});
      if (!(keeps_field(pair.key(), is_resource) && pair.key() == "metadata")) {
        prune(pair.value(), *inner, resource, below, unknown);
      }
    }
    made.emplace(pair.key(), std::move(pair.value()));
  }
  value = std::move(made);
}

void apply_schema_defaults(json::value& value, const json::object& schema) {
  if (value.is_array()) {
    const json::object& items = sync::wire::dig_object(schema, {"items"});
    for (json::value& item : value.get_array()) apply_schema_defaults(item, items);
    return;
  }
  if (!value.is_object()) return;
  json::object& object = value.get_object();
  for (const json::key_value_pair& pair : sync::wire::dig_object(schema, {"properties"})) {
    const json::object& property = sync::wire::as_object(pair.value());
    const json::value* given = property.if_contains("default");
    const json::value* present = object.if_contains(pair.key());
    const bool null_instead =
        present != nullptr && present->is_null() && !sync::wire::dig_bool(property, {"nullable"});
    if (given != nullptr && (present == nullptr || null_instead)) object[pair.key()] = *given;
  }
  for (json::key_value_pair& pair : object) {
    bool declared = false;
    const json::object* inner = schema_of(schema, pair.key(), declared);
    if (inner != nullptr) apply_schema_defaults(pair.value(), *inner);
  }
}

}  // namespace holdfast::agent::lab
