#include "agent/lab/rules/openapi.h"

#include <boost/json.hpp>
#include <string>

#include "agent/lab/rules/openapi_schema.h"
#include "sync/printing/resources.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

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

void add_paths(json::object& paths, const sync::printing::Resource& resource,
               const std::string& base, const json::object& tag) {
  std::string path = base;
  json::array parameters;
  if (resource.namespaced) {
    path += "/namespaces/{namespace}";
    parameters.push_back(parameter("namespace", "path"));
  }
  path.append("/").append(resource.plural);
  json::object collection;
  if (sync::printing::allows(resource.verbs, "list"))
    collection["get"] = operation("list", tag, false);
  collection["post"] = operation("post", tag, true);
  collection["parameters"] = parameters;
  paths[path] = std::move(collection);
  if (!sync::printing::allows(resource.verbs, "get")) return;
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

json::object openapi_index(const Catalog& catalog) {
  json::object paths;
  paths["api/v1"] = {{"serverRelativeURL", "/openapi/v3/api/v1"}};
  const auto built_in = sync::printing::all_groups();
  std::vector<std::string> groups(built_in.begin(), built_in.end());
  for (std::string& group : catalog.groups()) groups.push_back(std::move(group));
  for (const std::string& group : groups) {
    for (const std::string& version : catalog.versions_of(group)) {
      const std::string path = "apis/" + group + "/" + version;
      paths[path] = {{"serverRelativeURL", "/openapi/v3/" + path}};
    }
  }
  return {{"paths", std::move(paths)}};
}

std::optional<json::object> openapi_document(const Catalog& catalog, std::string_view group,
                                             std::string_view version) {
  const std::string base = group.empty()
                               ? "/api/" + std::string(version)
                               : "/apis/" + std::string(group) + "/" + std::string(version);
  json::object schemas;
  json::object paths;
  for (const sync::printing::Resource& resource : sync::printing::all_resources()) {
    const sync::printing::ServedVersion* served = resource.version(version);
    if (resource.group != group || served == nullptr) continue;
    add_kind(schemas, resource, *served, OpenapiStyle::v3);
    add_paths(paths, resource, base, kind_tag(resource, *served));
  }
  for (const auto& custom : catalog.customs()) {
    if (custom->group != group || !custom->serves(version)) continue;
    const sync::printing::ServedVersion* served = custom->version(version);
    add_custom_kind(schemas, *custom, *served, OpenapiStyle::v3);
    add_paths(paths, *custom, base, kind_tag(*custom, *served));
  }
  if (paths.empty()) return std::nullopt;
  json::object document = {{"openapi", "3.0.0"}};
  document["info"] = json::object{{"title", "holdfast-lab"}, {"version", "v1"}};
  document["paths"] = std::move(paths);
  document["components"] = json::object{{"schemas", std::move(schemas)}};
  return document;
}

}  // namespace holdfast::agent::lab
