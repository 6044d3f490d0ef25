#include "agent/lab/rules/openapi_schema.h"

#include <boost/json.hpp>

#include "agent/lab/rules/convert.h"
#include "platform/check.h"
#include "sync/model/documentation.h"

namespace holdfast::sync {
namespace {

namespace json = boost::json;

constexpr std::string_view tag_name = "x-kubernetes-group-version-kind";

json::object reference(std::string_view type, OpenapiStyle style) {
  const bool v2 = style == OpenapiStyle::v2;
  return {{"$ref", (v2 ? "#/definitions/" : "#/components/schemas/") + definition_name(type)}};
}

json::object single_schema(const Field& field, OpenapiStyle style) {
  switch (field.scalar) {
    case Scalar::text:
      return {{"type", "string"}};
    case Scalar::boolean:
      return {{"type", "boolean"}};
    case Scalar::int32:
      return {{"type", "integer"}, {"format", "int32"}};
    case Scalar::int64:
      return {{"type", "integer"}, {"format", "int64"}};
    case Scalar::quantity:
      return reference("Quantity", style);
    case Scalar::int_or_string:
      return reference("IntOrString", style);
    case Scalar::time:
    case Scalar::micro_time:
      return {{"type", "string"}, {"format", "date-time"}};
    case Scalar::bytes:
      return {{"type", "string"}, {"format", "byte"}};
    case Scalar::any:
      return {{"type", "object"}};
    case Scalar::strings:
      return {{"type", "array"}, {"items", json::object{{"type", "string"}}}};
    case Scalar::object:
      return reference(field.type->name, style);
  }
  UNREACHABLE();
}

json::object field_schema(const StructType& owner, const Field& field, OpenapiStyle style) {
  json::object schema = single_schema(field, style);
  // OpenAPI 3.0 ignores the siblings of a $ref, so upstream wraps the reference in allOf.
  const bool wrap = style == OpenapiStyle::v3 && field.shape == Shape::single;
  if (wrap && schema.contains("$ref")) {
    schema = {{"allOf", json::array({std::move(schema)})}};
  }
  if (field.shape == Shape::list) schema = {{"type", "array"}, {"items", std::move(schema)}};
  if (field.shape == Shape::map) {
    schema = {{"type", "object"}, {"additionalProperties", std::move(schema)}};
  }
  const std::string_view doc = find_doc(owner.name, field.name);
  if (!doc.empty()) schema["description"] = doc;
  std::string strategy = field.merge ? "merge" : field.replace ? "replace" : "";
  if (field.retain_keys) strategy += strategy.empty() ? "retainKeys" : ",retainKeys";
  if (!field.merge_key().empty()) schema["x-kubernetes-patch-merge-key"] = field.merge_key();
  if (!strategy.empty()) schema["x-kubernetes-patch-strategy"] = strategy;
  return schema;
}

bool is_required(const Field& field) {
  const bool value = field.scalar == Scalar::object || field.scalar == Scalar::time ||
                     field.scalar == Scalar::micro_time;
  return !field.omit_empty && !field.pointer && (!value || field.shape == Shape::list);
}

json::object struct_schema(const StructType& type, bool root, OpenapiStyle style) {
  json::object properties;
  if (root) {
    properties["apiVersion"] = {{"type", "string"}};
    properties["kind"] = {{"type", "string"}};
  }
  json::array required;
  for (const Field& field : type.fields) {
    properties[field.name] = field_schema(type, field, style);
    // The required fields of a kind are left to validation, whose errors are clearer.
    if (!root && is_required(field)) required.push_back(json::value(field.name));
  }
  json::object schema = {{"type", "object"}};
  const std::string_view doc = find_doc(type.name);
  if (!doc.empty()) schema["description"] = doc;
  if (!required.empty()) schema["required"] = std::move(required);
  schema["properties"] = std::move(properties);
  return schema;
}

void add_parts(json::object& schemas, const StructType& type, OpenapiStyle style) {
  for (const Field& field : type.fields) {
    if (field.type != nullptr) add_definitions(schemas, *field.type, style);
  }
}

void add_scalars(json::object& schemas) {
  schemas[definition_name("Quantity")] = {{"type", "string"}};
  schemas[definition_name("IntOrString")] = {{"type", "string"}, {"format", "int-or-string"}};
}

}  // namespace

std::string definition_name(std::string_view type) { return "io.k8s.api." + std::string(type); }

json::object kind_tag(const Resource& resource, const ServedVersion& version) {
  return {{"group", resource.group}, {"version", version.name}, {"kind", resource.kind}};
}

void add_definitions(json::object& schemas, const StructType& type, OpenapiStyle style) {
  const std::string name = definition_name(type.name);
  if (schemas.contains(name)) return;
  add_scalars(schemas);
  schemas[name] = struct_schema(type, false, style);
  add_parts(schemas, type, style);
}

void add_kind(json::object& schemas, const Resource& resource, const ServedVersion& version,
              OpenapiStyle style) {
  const StructType& type = type_of(resource, version);
  const std::string name = definition_name(type.name);
  add_scalars(schemas);
  if (!schemas.contains(name)) {
    schemas[name] = struct_schema(type, true, style);
    schemas[name].get_object()[tag_name] = json::array();
    add_parts(schemas, type, style);
  }
  schemas[name].get_object()[tag_name].get_array().push_back(kind_tag(resource, version));
}

}  // namespace holdfast::sync
