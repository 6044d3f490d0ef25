// Validates values by a JSON schema, with the messages of upstream's validator.

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>

#include "agent/lab/rules/custom_schema.h"
#include "agent/lab/rules/pattern.h"
#include "platform/time.h"
#include "sync/wire/json.h"
#include "sync/wire/quote.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;
using sync::wire::FieldErrors;

constexpr SchemaLimits validation_limits;

std::string_view type_name(const json::value& value) {
  if (value.is_object()) return "object";
  if (value.is_array()) return "array";
  if (value.is_string()) return "string";
  if (value.is_bool()) return "boolean";
  if (value.is_null()) return "null";
  const bool whole =
      value.is_int64() || value.is_uint64() || std::trunc(value.get_double()) == value.get_double();
  return whole ? "integer" : "number";
}

bool has_type(const json::value& value, const json::object& schema) {
  const std::string_view wanted = sync::wire::dig_text(schema, {"type"});
  const std::string_view found = type_name(value);
  if (sync::wire::dig_bool(schema, {"x-kubernetes-int-or-string"})) {
    return found == "integer" || found == "string";
  }
  if (wanted.empty() || wanted == found) return true;
  if (wanted == "number" && found == "integer") return true;
  return found == "null" && sync::wire::dig_bool(schema, {"nullable"});
}

// "spec.x in body should ..."
std::string in_body(const std::string& path, const std::string& what) {
  return path + " in body " + what;
}

sync::wire::FieldError wrong(const std::string& path, const json::value& value,
                             const std::string& what) {
  return sync::wire::field::invalid_raw(path, sync::wire::serialize(value), in_body(path, what));
}

void check_number(FieldErrors& errors, const json::value& value, const json::object& schema,
                  const std::string& path) {
  const double number = value.to_number<double>();
  const auto limit = [&schema](std::string_view name) { return schema.if_contains(name); };
  if (const json::value* most = limit("maximum"); most != nullptr && most->is_number()) {
    const bool exclusive = sync::wire::dig_bool(schema, {"exclusiveMaximum"});
    const auto max = most->to_number<double>();
    if (number > max || (exclusive && number == max)) {
      errors.push_back(wrong(path, value,
                             std::string("should be less than ") +
                                 (exclusive ? "" : "or equal to ") + sync::wire::serialize(*most)));
    }
  }
  if (const json::value* least = limit("minimum"); least != nullptr && least->is_number()) {
    const bool exclusive = sync::wire::dig_bool(schema, {"exclusiveMinimum"});
    const auto min = least->to_number<double>();
    if (number < min || (exclusive && number == min)) {
      errors.push_back(wrong(path, value,
                             std::string("should be greater than ") +
                                 (exclusive ? "" : "or equal to ") +
                                 sync::wire::serialize(*least)));
    }
  }
  if (const json::value* of = limit("multipleOf"); of != nullptr && of->is_number()) {
    const auto unit = of->to_number<double>();
    if (unit > 0 && std::fmod(number, unit) != 0) {
      errors.push_back(wrong(path, value, "should be a multiple of " + sync::wire::serialize(*of)));
    }
  }
}

// The length in characters, as upstream counts.
std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

void check_text(FieldErrors& errors, const json::value& value, const json::object& schema,
                const std::string& path) {
  const std::string_view text = value.get_string();
  const json::value* most = schema.if_contains("maxLength");
  const auto max = sync::wire::dig_int(schema, {"maxLength"});
  if (most != nullptr && characters(text) > static_cast<std::size_t>(max)) {
    errors.push_back(sync::wire::field::too_long(path, static_cast<std::size_t>(max)));
  }
  const auto min = sync::wire::dig_int(schema, {"minLength"});
  if (characters(text) < static_cast<std::size_t>(min)) {
    errors.push_back(
        wrong(path, value, "should be at least " + std::to_string(min) + " chars long"));
  }
  const std::string pattern(sync::wire::dig_text(schema, {"pattern"}));
  if (!pattern.empty() && text.size() > validation_limits.matched_bytes) {
    errors.push_back(sync::wire::field::too_long(path, validation_limits.matched_bytes));
  } else if (!pattern.empty() && !matches_pattern(text, pattern)) {
    errors.push_back(wrong(path, value, "should match '" + pattern + "'"));
  }
  if (sync::wire::dig_text(schema, {"format"}) == "date-time" && !parse_rfc3339(text)) {
    errors.push_back(wrong(path, value, "must be of type date-time: " + sync::wire::quoted(text)));
  }
}

void check_enum(FieldErrors& errors, const json::value& value, const json::object& schema,
                const std::string& path) {
  const json::array& allowed = sync::wire::dig_list(schema, {"enum"});
  if (allowed.empty()) return;
  std::string list;
  for (const json::value& each : allowed) {
    if (each == value) return;
    list += (list.empty() ? "" : ", ") + sync::wire::serialize(each);
  }
  errors.push_back({sync::wire::FieldError::Type::not_supported, path, sync::wire::serialize(value),
                    "supported values: " + list});
}

void check_count(FieldErrors& errors, std::size_t count, const json::object& schema,
                 std::string_view unit, const std::string& path, const json::value& value) {
  const std::string most = std::string("max") + (unit == "items" ? "Items" : "Properties");
  const std::string least = std::string("min") + (unit == "items" ? "Items" : "Properties");
  const auto max = static_cast<std::size_t>(sync::wire::dig_int(schema, {most}));
  if (schema.contains(most) && count > max) {
    errors.push_back(sync::wire::field::too_many(path, count, max));
  }
  const auto min = static_cast<std::size_t>(sync::wire::dig_int(schema, {least}));
  if (count < min) {
    errors.push_back(wrong(
        path, value, "should have at least " + std::to_string(min) + " " + std::string(unit)));
  }
}

void check_object(FieldErrors& errors, const json::value& value, const json::object& schema,
                  const std::string& path) {
  const json::object& object = value.get_object();
  check_count(errors, object.size(), schema, "properties", path, value);
  const auto below = [&path](std::string_view name) {
    return path.empty() ? std::string(name) : sync::wire::child(path, name);
  };
  for (const json::value& name : sync::wire::dig_list(schema, {"required"})) {
    const std::string_view wanted = sync::wire::as_text(name);
    if (!object.contains(wanted)) errors.push_back(sync::wire::field::required(below(wanted)));
  }
  const json::object& properties = sync::wire::dig_object(schema, {"properties"});
  const json::object& others = sync::wire::dig_object(schema, {"additionalProperties"});
  for (const json::key_value_pair& pair : object) {
    if (errors.size() >= validation_limits.errors) return;
    const std::string_view name = pair.key();
    if (path.empty() && (name == "metadata" || name == "kind" || name == "apiVersion")) continue;
    const json::value* property = properties.if_contains(name);
    const json::object& inner = property ? sync::wire::as_object(*property) : others;
    validate_by_schema(errors, pair.value(), inner, below(name));
  }
}

}  // namespace

void validate_by_schema(FieldErrors& errors, const json::value& value, const json::object& schema,
                        const std::string& path) {
  if (!has_type(value, schema)) {
    const std::string found = sync::wire::quoted(type_name(value));
    const std::string wanted(sync::wire::dig_text(schema, {"type"}));
    errors.push_back(sync::wire::field::invalid_raw(
        path, found, in_body(path, "must be of type " + wanted + ": " + found)));
    return;
  }
  check_enum(errors, value, schema, path);
  if (value.is_number()) check_number(errors, value, schema, path);
  if (value.is_string()) check_text(errors, value, schema, path);
  if (value.is_object()) check_object(errors, value, schema, path);
  if (!value.is_array()) return;
  check_count(errors, value.get_array().size(), schema, "items", path, value);
  const json::object& items = sync::wire::dig_object(schema, {"items"});
  for (std::size_t at = 0; at < value.get_array().size(); ++at) {
    if (errors.size() >= validation_limits.errors) return;
    validate_by_schema(errors, value.get_array()[at], items, sync::wire::at(path, at));
  }
}

}  // namespace holdfast::agent::lab
