#include "agent/lab/rules/openapi_schema.h"

#include <boost/json.hpp>

#include "agent/lab/rules/convert.h"
#include "agent/lab/rules/descriptions.h"
#include "platform/check.h"
#include "platform/text.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

constexpr std::string_view tag_name = "x-kubernetes-group-version-kind";

json::object reference(std::string_view type, OpenapiStyle style) {
  const bool v2 = style == OpenapiStyle::v2;
  return {{"$ref", (v2 ? "#/definitions/" : "#/components/schemas/") + definition_name(type)}};
}

json::object single_schema(const sync::Field& field, OpenapiStyle style) {
  switch (field.scalar) {
    case sync::Scalar::text:
      return {{"type", "string"}};
    case sync::Scalar::boolean:
      return {{"type", "boolean"}};
    case sync::Scalar::int32:
      return {{"type", "integer"}, {"format", "int32"}};
    case sync::Scalar::int64:
      return {{"type", "integer"}, {"format", "int64"}};
    case sync::Scalar::quantity:
      return reference("Quantity", style);
    case sync::Scalar::int_or_string:
      return reference("IntOrString", style);
    case sync::Scalar::time:
    case sync::Scalar::micro_time:
      return {{"type", "string"}, {"format", "date-time"}};
    case sync::Scalar::bytes:
      return {{"type", "string"}, {"format", "byte"}};
    case sync::Scalar::any:
      return {{"type", "object"}};
    case sync::Scalar::strings:
      return {{"type", "array"}, {"items", json::object{{"type", "string"}}}};
    case sync::Scalar::object:
      return reference(field.type->name, style);
  }
  UNREACHABLE();
}

json::object field_schema(const sync::StructType& owner, const sync::Field& field,
                          OpenapiStyle style) {
  json::object schema = single_schema(field, style);
  // OpenAPI 3.0 ignores the siblings of a $ref, so upstream wraps the reference in allOf.
  const bool wrap = style == OpenapiStyle::v3 && field.shape == sync::Shape::single;
  if (wrap && schema.contains("$ref")) {
    schema = {{"allOf", json::array({std::move(schema)})}};
  }
  if (field.shape == sync::Shape::list) schema = {{"type", "array"}, {"items", std::move(schema)}};
  if (field.shape == sync::Shape::map) {
    schema = {{"type", "object"}, {"additionalProperties", std::move(schema)}};
  }
  const std::string_view doc = find_description(owner.name, field.name);
  if (!doc.empty()) schema["description"] = doc;
  std::string strategy = field.merge ? "merge" : field.replace ? "replace" : "";
  if (field.retain_keys) strategy += strategy.empty() ? "retainKeys" : ",retainKeys";
  if (!field.merge_key().empty()) schema["x-kubernetes-patch-merge-key"] = field.merge_key();
  if (!strategy.empty()) schema["x-kubernetes-patch-strategy"] = strategy;
  return schema;
}

bool is_required(const sync::Field& field) {
  const bool value = field.scalar == sync::Scalar::object || field.scalar == sync::Scalar::time ||
                     field.scalar == sync::Scalar::micro_time;
  return !field.omit_empty && !field.pointer && (!value || field.shape == sync::Shape::list);
}

json::object struct_schema(const sync::StructType& type, bool root, OpenapiStyle style) {
  json::object properties;
  if (root) {
    for (const std::string_view name : {"apiVersion", "kind"}) {
      properties[name] = {{"type", "string"}, {"description", find_description("TypeMeta", name)}};
    }
  }
  json::array required;
  for (const sync::Field& field : type.fields) {
    properties[field.name] = field_schema(type, field, style);
    // The required fields of a kind are left to validation, whose errors are clearer.
    if (!root && is_required(field)) required.push_back(json::value(field.name));
  }
  json::object schema = {{"type", "object"}};
  const std::string_view doc = find_description(type.name);
  if (!doc.empty()) schema["description"] = doc;
  if (!required.empty()) schema["required"] = std::move(required);
  schema["properties"] = std::move(properties);
  return schema;
}

void add_parts(json::object& schemas, const sync::StructType& type, OpenapiStyle style) {
  for (const sync::Field& field : type.fields) {
    if (field.type != nullptr) add_definitions(schemas, *field.type, style);
  }
}

void add_scalars(json::object& schemas) {
  schemas[definition_name("Quantity")] = {{"type", "string"}};
  schemas[definition_name("IntOrString")] = {{"type", "string"}, {"format", "int-or-string"}};
}

}  // namespace

std::string definition_name(std::string_view type) { return "io.k8s.api." + std::string(type); }

json::object kind_tag(const sync::printing::Resource& resource,
                      const sync::printing::ServedVersion& version) {
  return {{"group", resource.group}, {"version", version.name}, {"kind", resource.kind}};
}

void add_definitions(json::object& schemas, const sync::StructType& type, OpenapiStyle style) {
  const std::string name = definition_name(type.name);
  if (schemas.contains(name)) return;
  add_scalars(schemas);
  schemas[name] = struct_schema(type, false, style);
  add_parts(schemas, type, style);
}

void add_kind(json::object& schemas, const sync::printing::Resource& resource,
              const sync::printing::ServedVersion& version, OpenapiStyle style) {
  const sync::StructType& type = type_of(resource, version);
  const std::string name = definition_name(type.name);
  add_scalars(schemas);
  if (!schemas.contains(name)) {
    schemas[name] = struct_schema(type, true, style);
    schemas[name].get_object()[tag_name] = json::array();
    add_parts(schemas, type, style);
  }
  schemas[name].get_object()[tag_name].get_array().push_back(kind_tag(resource, version));
}

void add_custom_kind(json::object& schemas, const CustomResource& custom,
                     const sync::printing::ServedVersion& version, OpenapiStyle style) {
  json::object schema = {{"type", "object"}};
  if (const json::object* own = custom.schema_of(version.name)) schema = *own;
  const bool open = sync::wire::dig_bool(schema, {"x-kubernetes-preserve-unknown-fields"});
  // As upstream, version 2 shows no fields of an object that may have any.
  if (open && style == OpenapiStyle::v2) schema.erase("properties");
  json::object& properties = sync::wire::make_object(schema, {"properties"});
  for (const std::string_view name : {"apiVersion", "kind"}) {
    properties[name] = {{"type", "string"}, {"description", find_description("TypeMeta", name)}};
  }
  add_definitions(schemas, sync::known_type("ObjectMeta"), style);
  json::object metadata = reference("ObjectMeta", style);
  if (style == OpenapiStyle::v3) metadata = {{"allOf", json::array({std::move(metadata)})}};
  properties["metadata"] = std::move(metadata);
  schema[tag_name] = json::array({kind_tag(custom, version)});
  // As upstream: the group's parts in reverse order, for example "com.example.v1.Foo".
  std::string name;
  for (const std::string_view part : split(custom.group, '.')) {
    name = std::string(part) + "." + name;
  }
  schemas[name + std::string(version.name) + "." + std::string(custom.kind)] = std::move(schema);
}

}  // namespace holdfast::agent::lab
