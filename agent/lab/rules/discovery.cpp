#include "agent/lab/rules/discovery.h"

#include <algorithm>
#include <boost/json.hpp>
#include <string>
#include <vector>

#include "sync/printing/resources.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

// The release whose API is closest to our tables and defaults.
constexpr std::string_view release = "v1.32.0-holdfast";

json::array texts(std::span<const std::string_view> from) {
  return json::array(from.begin(), from.end());
}

json::object group_version(std::string_view group, std::string_view version) {
  return {{"groupVersion", std::string(group) + "/" + std::string(version)}, {"version", version}};
}

json::object group_entry(const Catalog& catalog, std::string_view group) {
  json::array versions;
  for (const std::string& version : catalog.versions_of(group)) {
    versions.push_back(group_version(group, version));
  }
  json::object entry;
  entry["name"] = group;
  entry["versions"] = versions;
  entry["preferredVersion"] = versions.front();
  return entry;
}

json::object resource_entry(const sync::printing::Resource& resource) {
  json::object entry;
  entry["name"] = resource.plural;
  const CustomResource* custom = custom_of(resource);
  entry["singularName"] = custom != nullptr ? custom->singular : "";
  entry["namespaced"] = resource.namespaced;
  entry["kind"] = resource.kind;
  entry["verbs"] = texts(sync::printing::words(resource.verbs));
  if (!resource.short_names.empty()) entry["shortNames"] = texts(resource.short_names);
  if (!resource.categories.empty()) entry["categories"] = texts(resource.categories);
  if (!resource.storage_hash.empty()) entry["storageVersionHash"] = resource.storage_hash;
  return entry;
}

json::object subresource_entry(const sync::printing::Resource& resource,
                               const sync::printing::Subresource& subresource) {
  json::object entry;
  entry["name"] = std::string(resource.plural) + "/" + std::string(subresource.name);
  entry["singularName"] = "";
  entry["namespaced"] = resource.namespaced;
  if (!subresource.group.empty()) {
    entry["group"] = subresource.group;
    entry["version"] = subresource.version;
  }
  entry["kind"] = subresource.kind.empty() ? resource.kind : subresource.kind;
  entry["verbs"] = texts(sync::printing::words(subresource.verbs));
  return entry;
}

std::vector<std::string> group_names(const Catalog& catalog) {
  const auto built_in = sync::printing::all_groups();
  std::vector<std::string> names(built_in.begin(), built_in.end());
  for (std::string& name : catalog.groups()) names.push_back(std::move(name));
  return names;
}

bool has_group(const Catalog& catalog, std::string_view group) {
  const std::vector<std::string> groups = group_names(catalog);
  return std::find(groups.begin(), groups.end(), group) != groups.end();
}

void add_resource(json::array& resources, const sync::printing::Resource& resource,
                  std::string_view version) {
  resources.push_back(resource_entry(resource));
  const CustomResource* custom = custom_of(resource);
  for (const sync::printing::Subresource& subresource : resource.subresources) {
    const bool has = custom == nullptr || custom->has_subresource(version, subresource.name);
    if (has) resources.push_back(subresource_entry(resource, subresource));
  }
}

}  // namespace

json::object version_document() {
  return {{"major", "1"},    {"minor", "32"},      {"gitVersion", release},
          {"gitCommit", ""}, {"gitTreeState", ""}, {"buildDate", "1970-01-01T00:00:00Z"},
          {"goVersion", ""}, {"compiler", "gcc"},  {"platform", "linux"}};
}

json::object api_versions(std::string_view address) {
  const json::object everywhere = {{"clientCIDR", "0.0.0.0/0"}, {"serverAddress", address}};
  json::object document;
  document["kind"] = "APIVersions";
  document["versions"] = json::array({"v1"});
  document["serverAddressByClientCIDRs"] = json::array({everywhere});
  return document;
}

json::object group_list(const Catalog& catalog) {
  json::array groups;
  for (const std::string& group : group_names(catalog)) {
    groups.push_back(group_entry(catalog, group));
  }
  return {{"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", std::move(groups)}};
}

std::optional<json::object> group_document(const Catalog& catalog, std::string_view group) {
  if (!has_group(catalog, group)) return std::nullopt;
  json::object document = {{"kind", "APIGroup"}, {"apiVersion", "v1"}};
  for (auto& pair : group_entry(catalog, group))
    document.emplace(pair.key(), std::move(pair.value()));
  return document;
}

std::optional<json::object> resource_list(const Catalog& catalog, std::string_view group,
                                          std::string_view version) {
  json::array resources;
  for (const sync::printing::Resource& resource : sync::printing::all_resources()) {
    if (resource.group != group || resource.version(version) == nullptr) continue;
    add_resource(resources, resource, version);
  }
  for (const auto& custom : catalog.customs()) {
    if (custom->group == group && custom->serves(version)) {
      add_resource(resources, *custom, version);
    }
  }
  if (resources.empty()) return std::nullopt;
  json::object document = {{"kind", "APIResourceList"}};
  if (!group.empty()) document["apiVersion"] = "v1";
  document["groupVersion"] =
      group.empty() ? std::string(version) : std::string(group) + "/" + std::string(version);
  document["resources"] = std::move(resources);
  return document;
}

json::object root_paths(const Catalog& catalog) {
  std::vector<std::string> paths = {"/api",        "/api/v1",       "/apis",   "/apis/",
                                    "/healthz",    "/healthz/ping", "/livez",  "/livez/ping",
                                    "/openapi/v2", "/openapi/v3",   "/readyz", "/readyz/ping",
                                    "/version"};
  for (const std::string& group : group_names(catalog)) {
    const std::string path = "/apis/" + group;
    paths.push_back(path);
    for (const std::string& version : catalog.versions_of(group)) {
      paths.push_back(path + "/" + version);
    }
  }
  std::sort(paths.begin(), paths.end());
  return {{"paths", json::array(paths.begin(), paths.end())}};
}

}  // namespace holdfast::agent::lab
