#include "sync/apiserver/openapi.h"

#include <boost/json.hpp>
#include <set>
#include <string>

#include "platform/check.h"
#include "sync/apiserver/convert.h"
#include "sync/apiserver/resources.h"
#include "sync/apiserver/schema.h"

namespace holdfast::sync {
namespace {

namespace json = boost::json;

std::string definition(std::string_view type) { return "io.k8s.api." + std::string(type); }

json::object reference(std::string_view type) {
  return {{"$ref", "#/components/schemas/" + definition(type)}};
}

json::object single_schema(const Field& field) {
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
      return {{"$ref", "#/components/schemas/io.k8s.api.Quantity"}};
    case Scalar::int_or_string:
      return {{"$ref", "#/components/schemas/io.k8s.api.IntOrString"}};
    case Scalar::time:
    case Scalar::micro_time:
      return {{"type", "string"}, {"format", "date-time"}};
    case Scalar::bytes:
      return {{"type", "string"}, {"format", "byte"}};
    case Scalar::any:
      return {{"type", "object"}};
    case Scalar::object:
      return reference(field.type->name);
  }
  UNREACHABLE();
}

json::object field_schema(const Field& field) {
  json::object schema = single_schema(field);
  // OpenAPI 3.0 ignores what stands beside a $ref; upstream wraps it.
  if (field.shape == Shape::single && schema.contains("$ref")) {
    schema = {{"allOf", json::array({std::move(schema)})}};
  }
  if (field.shape == Shape::list) schema = {{"type", "array"}, {"items", std::move(schema)}};
  if (field.shape == Shape::map) {
    schema = {{"type", "object"}, {"additionalProperties", std::move(schema)}};
  }
  if (!field.doc.empty()) schema["description"] = field.doc;
  std::string strategy = field.merge ? "merge" : "";
  if (field.retain_keys) strategy += strategy.empty() ? "retainKeys" : ",retainKeys";
  if (!field.merge_key.empty()) schema["x-kubernetes-patch-merge-key"] = field.merge_key;
  if (!strategy.empty()) schema["x-kubernetes-patch-strategy"] = strategy;
  return schema;
}

json::object struct_schema(const StructType& type, bool root) {
  json::object properties;
  if (root) {
    properties["apiVersion"] = {{"type", "string"}};
    properties["kind"] = {{"type", "string"}};
  }
  json::array required;
  for (const Field& field : type.fields) {
    properties[field.name] = field_schema(field);
    const bool value = field.scalar == Scalar::object || field.scalar == Scalar::time;
    if (!field.omit_empty && !value) required.push_back(json::value(field.name));
  }
  json::object schema = {{"type", "object"}};
  if (!type.doc.empty()) schema["description"] = type.doc;
  if (!required.empty()) schema["required"] = std::move(required);
  schema["properties"] = std::move(properties);
  return schema;
}

json::object kind_tag(std::string_view group, std::string_view version, std::string_view kind) {
  return {{"group", group}, {"version", version}, {"kind", kind}};
}

// Adds the schemas of everything that `type` refers to.
void add_parts(json::object& schemas, const StructType& type) {
  for (const Field& field : type.fields) {
    if (field.type == nullptr || schemas.contains(definition(field.type->name))) continue;
    schemas[definition(field.type->name)] = struct_schema(*field.type, false);
    add_parts(schemas, *field.type);
  }
}

json::object parameter(std::string_view name, std::string_view in) {
  json::object made = {{"name", name}, {"in", in}};
  if (in == "path") made["required"] = true;
  made["schema"] = json::object{{"type", "string"}};
  return made;
}

json::object operation(std::string_view action, const json::object& tag, bool writes) {
  json::object made;
  if (writes) {
    made["parameters"] =
        json::array({parameter("dryRun", "query"), parameter("fieldManager", "query"),
                     parameter("fieldValidation", "query")});
  }
  made["responses"] = json::object{{"200", json::object{{"description", "OK"}}}};
  made["x-kubernetes-action"] = action;
  made["x-kubernetes-group-version-kind"] = tag;
  return made;
}

void add_paths(json::object& paths, const Resource& resource, const std::string& base,
               const json::object& tag) {
  std::string path = base;
  json::array parameters;
  if (resource.namespaced) {
    path += "/namespaces/{namespace}";
    parameters.push_back(parameter("namespace", "path"));
  }
  path.append("/").append(resource.plural);
  json::object collection;
  if (allows(resource.verbs, "list")) collection["get"] = operation("list", tag, false);
  collection["post"] = operation("post", tag, true);
  collection["parameters"] = parameters;
  paths[path] = std::move(collection);
  if (!allows(resource.verbs, "get")) return;
  parameters.push_back(parameter("name", "path"));
  json::object item;
  item["get"] = operation("get", tag, false);
  item["put"] = operation("put", tag, true);
  item["delete"] = operation("delete", tag, false);
  item["patch"] = operation("patch", tag, true);
  item["parameters"] = parameters;
  paths[path + "/{name}"] = std::move(item);
}

}  // namespace

json::object openapi_index() {
  json::object paths;
  paths["api/v1"] = {{"serverRelativeURL", "/openapi/v3/api/v1"}};
  for (const std::string_view group : all_groups()) {
    for (const std::string_view version : versions_of(group)) {
      const std::string path = "apis/" + std::string(group) + "/" + std::string(version);
      paths[path] = {{"serverRelativeURL", "/openapi/v3/" + path}};
    }
  }
  return {{"paths", std::move(paths)}};
}

std::optional<json::object> openapi_document(std::string_view group, std::string_view version) {
  const std::string base = group.empty()
                               ? "/api/" + std::string(version)
                               : "/apis/" + std::string(group) + "/" + std::string(version);
  json::object schemas;
  json::object paths;
  for (const Resource& resource : all_resources()) {
    const Version* served = resource.version(version);
    if (resource.group != group || served == nullptr) continue;
    const json::object tag = kind_tag(group, version, resource.kind);
    const StructType& type = type_of(resource, *served);
    json::object schema = struct_schema(type, true);
    schema["x-kubernetes-group-version-kind"] = json::array({tag});
    schemas[definition(resource.kind)] = std::move(schema);
    add_parts(schemas, type);
    add_paths(paths, resource, base, tag);
  }
  if (paths.empty()) return std::nullopt;
  schemas["io.k8s.api.Quantity"] = {{"type", "string"}};
  schemas["io.k8s.api.IntOrString"] = {{"type", "string"}, {"format", "int-or-string"}};
  json::object document = {{"openapi", "3.0.0"}};
  document["info"] = json::object{{"title", "holdfast-lab"}, {"version", "v1"}};
  document["paths"] = std::move(paths);
  document["components"] = json::object{{"schemas", std::move(schemas)}};
  return document;
}

}  // namespace holdfast::sync
