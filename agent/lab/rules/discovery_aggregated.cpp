#include "agent/lab/rules/discovery_aggregated.h"

#include <boost/json.hpp>
#include <cctype>
#include <string>
#include <vector>

#include "platform/text.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

json::array text_list(const auto& from) { return json::array(from.begin(), from.end()); }

// Upstream leaves out a group and version that are those of the resource.
json::object response_kind(std::string_view kind, std::string_view group = {},
                           std::string_view version = {}) {
  return {{"group", group}, {"version", version}, {"kind", kind}};
}

json::array subresource_entries(const sync::printing::Resource& resource,
                                std::string_view version) {
  json::array entries;
  const CustomResource* custom = custom_of(resource);
  for (const sync::printing::Subresource& each : resource.subresources) {
    if (custom != nullptr && !custom->has_subresource(version, each.name)) continue;
    const bool own = each.kind.empty();
    json::object entry;
    entry["subresource"] = each.name;
    entry["responseKind"] =
        own ? response_kind(resource.kind) : response_kind(each.kind, each.group, each.version);
    entry["verbs"] = text_list(sync::printing::words(each.verbs));
    entries.push_back(std::move(entry));
  }
  return entries;
}

json::object aggregated_resource(const sync::printing::Resource& resource,
                                 std::string_view version) {
  const CustomResource* custom = custom_of(resource);
  std::string singular(resource.kind);
  for (char& c : singular) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  json::object entry;
  entry["resource"] = resource.plural;
  entry["responseKind"] = response_kind(resource.kind);
  entry["scope"] = resource.namespaced ? "Namespaced" : "Cluster";
  entry["singularResource"] = custom != nullptr ? custom->singular : singular;
  entry["verbs"] = text_list(sync::printing::words(resource.verbs));
  if (!resource.short_names.empty()) entry["shortNames"] = text_list(resource.short_names);
  if (!resource.categories.empty()) entry["categories"] = text_list(resource.categories);
  json::array subresources = subresource_entries(resource, version);
  if (!subresources.empty()) entry["subresources"] = std::move(subresources);
  return entry;
}

json::object version_entry(const Catalog& catalog, std::string_view group,
                           std::string_view version) {
  json::array resources;
  for (const sync::printing::Resource& resource : sync::printing::all_resources()) {
    if (resource.group != group || resource.version(version) == nullptr) continue;
    resources.push_back(aggregated_resource(resource, version));
  }
  for (const auto& custom : catalog.customs()) {
    if (custom->group != group || !custom->serves(version)) continue;
    resources.push_back(aggregated_resource(*custom, version));
  }
  return {{"version", version}, {"resources", std::move(resources)}, {"freshness", "Current"}};
}

json::object aggregated_group(const Catalog& catalog, std::string_view group) {
  json::array versions;
  for (const std::string& version : catalog.versions_of(group)) {
    versions.push_back(version_entry(catalog, group, version));
  }
  json::object metadata;
  if (!group.empty()) metadata["name"] = group;
  return {{"metadata", std::move(metadata)}, {"versions", std::move(versions)}};
}

}  // namespace

bool wants_aggregated(std::string_view accept) {
  const std::string_view first = accept.substr(0, accept.find(','));
  bool group = false;
  bool version = false;
  bool list = false;
  for (const std::string_view part : split(first, ';')) {
    group = group || trim(part) == "g=apidiscovery.k8s.io";
    version = version || trim(part) == "v=v2";
    list = list || trim(part) == "as=APIGroupDiscoveryList";
  }
  return group && version && list && first.starts_with("application/json");
}

json::object aggregated_discovery(const Catalog& catalog, bool is_core) {
  json::array items;
  if (is_core) {
    items.push_back(aggregated_group(catalog, ""));
  } else {
    for (const std::string_view group : sync::printing::all_groups()) {
      items.push_back(aggregated_group(catalog, group));
    }
    for (const std::string& group : catalog.groups()) {
      items.push_back(aggregated_group(catalog, group));
    }
  }
  return {{"kind", "APIGroupDiscoveryList"},
          {"apiVersion", "apidiscovery.k8s.io/v2"},
          {"metadata", json::object()},
          {"items", std::move(items)}};
}

}  // namespace holdfast::agent::lab
