#include "agent/edge/options/filter_options.h"

#include "platform/text.h"
#include "sync/objects/name.h"

namespace holdfast::agent {

std::set<sync::filters::Filter> FilterOptions::disabled_filters() const {
  std::set<sync::filters::Filter> filters;
  for (const std::string& name : disabled) {
    if (const auto filter = sync::filters::parse_filter(name)) filters.insert(*filter);
  }
  return filters;
}

void add_options(config::Options& options, FilterOptions& settings) {
  options.add("enable-resource-filter", settings.enabled,
              "apply OpenYurt's filters to the services, endpoints and pods that components read");
  options.add("disabled-resource-filters", settings.disabled, "names of filters to switch off");
  options.add("enable-pool-service-topology", settings.pool_service_topology,
              "read the nodes of this node's pool from NodeBuckets instead of the NodePool");
  options.add("enable-node-pool", settings.node_pool,
              "read the nodes of this node's pool from the NodePool");
  options.add("nodepool-name", settings.nodepool_name,
              "pool of this node; empty: the value of its label apps.openyurt.io/nodepool");
  options.add(
      "hub-config", settings.hub_config,
      "namespace/name of the ConfigMap with additional cached components and filters; empty: "
      "none");
}

Status check(const FilterOptions& settings) {
  const auto bad = [](std::string what) { return fail(Errc::invalid, std::move(what)); };
  for (const std::string& name : settings.disabled) {
    if (sync::filters::parse_filter(name)) continue;
    return bad("--disabled-resource-filters: \"" + name + "\" is not a filter");
  }
  if (!settings.nodepool_name.empty()) {
    const auto reasons = sync::objects::check_dns1123_subdomain(settings.nodepool_name);
    if (!reasons.empty()) {
      return bad("--nodepool-name: \"" + settings.nodepool_name + "\": " + reasons.front());
    }
  }
  if (settings.hub_config.empty()) return {};
  const auto parts = split(settings.hub_config, '/');
  const bool named = parts.size() == 2 &&
                     sync::objects::check_dns1123_subdomain(parts[0]).empty() &&
                     sync::objects::check_dns1123_subdomain(parts[1]).empty();
  if (!named) return bad("--hub-config: \"" + settings.hub_config + "\" is not namespace/name");
  return {};
}

}  // namespace holdfast::agent
