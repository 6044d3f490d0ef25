#include <boost/json.hpp>

#include "sync/filters/filters.h"
#include "sync/wire/read.h"

namespace holdfast::sync::filters {
namespace {

namespace json = boost::json;

constexpr std::string_view hostname_key = "kubernetes.io/hostname";

// The node of an endpoint, or "". Old EndpointSlices have it as a topology label.
std::string_view node_of(const json::object& endpoint) {
  const std::string_view node = wire::dig_text(endpoint, {"nodeName"});
  return node.empty() ? wire::dig_text(endpoint, {"topology", hostname_key}) : node;
}

// The array at `key`, or nullptr.
json::array* list_in(json::object& object, std::string_view key) {
  json::value* found = object.if_contains(key);
  return found == nullptr ? nullptr : found->if_array();
}

// The nodes to which traffic may go.
struct Reach {
  const std::string& node;
  const std::set<std::string>* pool;  // null: this node only

  [[nodiscard]] bool has(const json::value& endpoint) const {
    const std::string_view at = node_of(wire::as_object(endpoint));
    return at == node || (pool != nullptr && pool->contains(std::string(at)));
  }
};

// Removes endpoints outside `reach`; returns whether there were any.
bool limit_memory(json::array* endpoints, const Reach& reach) {
  if (endpoints == nullptr) return false;
  json::array kept;
  for (json::value& endpoint : *endpoints) {
    if (reach.has(endpoint)) kept.push_back(endpoint);
  }
  const bool changed = kept.size() != endpoints->size();
  if (changed) *endpoints = std::move(kept);
  return changed;
}

// The same for Endpoints. A subset that has no addresses left is removed.
bool keep_subsets_within(json::array& subsets, const Reach& reach) {
  json::array kept;
  bool changed = false;
  for (json::value& subset : subsets) {
    if (!subset.is_object()) continue;
    json::object& parts = subset.get_object();
    json::array* ready = list_in(parts, "addresses");
    json::array* others = list_in(parts, "notReadyAddresses");
    changed = limit_memory(ready, reach) || changed;
    changed = limit_memory(others, reach) || changed;
    if (ready != nullptr && ready->empty()) parts.erase("addresses");
    if (others != nullptr && others->empty()) parts.erase("notReadyAddresses");
    if (parts.contains("addresses") || parts.contains("notReadyAddresses")) kept.push_back(subset);
  }
  if (changed) subsets = std::move(kept);
  return changed;
}

bool narrow(json::object& endpoints, const Reach& reach) {
  if (json::array* subsets = list_in(endpoints, "subsets")) {
    return keep_subsets_within(*subsets, reach);
  }
  return limit_memory(list_in(endpoints, "endpoints"), reach);
}

// The service's name: a label of an EndpointSlice, the own name of Endpoints.
watch::ObjectKey service_of(const json::object& endpoints) {
  const bool slice = endpoints.contains("endpoints");
  const std::string_view name =
      slice ? wire::dig_text(endpoints, {"metadata", "labels", service_label})
            : wire::name_of(endpoints);
  return {std::string(wire::namespace_of(endpoints)), std::string(name)};
}

FilterResult narrow_to_pool(json::object& endpoints, const FilterKnowledge& knowledge) {
  if (!knowledge.node_pool) return {Effect::unknown, Need::node};
  Reach reach{knowledge.node_name, nullptr};
  if (!knowledge.node_pool->empty()) {
    if (!knowledge.pool_nodes) return {Effect::unknown, Need::pool_nodes};
    reach.pool = &*knowledge.pool_nodes;
  }
  return {narrow(endpoints, reach) ? Effect::changed : Effect::none};
}

}  // namespace

FilterResult service_topology(json::object& endpoints, const FilterKnowledge& knowledge) {
  const watch::ObjectKey service = service_of(endpoints);
  if (service.name.empty()) return {};
  if (!knowledge.services) return {Effect::unknown, Need::services};
  const auto found = knowledge.services->find(service);
  if (found == knowledge.services->end()) return {};
  if (found->second == Topology::pool) {
    return knowledge.pool_topology ? narrow_to_pool(endpoints, knowledge) : FilterResult{};
  }
  const bool narrowed = narrow(endpoints, {knowledge.node_name, nullptr});
  return {narrowed ? Effect::changed : Effect::none};
}

FilterResult forward_kube_svc_traffic(json::object& slice, const FilterKnowledge& knowledge) {
  const bool named = wire::name_of(slice) == master_name ||
                     wire::dig_text(slice, {"metadata", "labels", service_label}) == master_name;
  if (!named || wire::namespace_of(slice) != master_namespace || !knowledge.master) return {};
  const std::string_view family = knowledge.master->is_ipv6() ? "IPv6" : "IPv4";
  if (wire::dig_text(slice, {"addressType"}) != family) return {};
  json::array* ports = list_in(slice, "ports");
  if (ports == nullptr) return {};
  for (json::value& port : *ports) {
    if (wire::dig_text(wire::as_object(port), {"name"}) != master_port_name) continue;
    const json::object before = slice;
    port.get_object()["port"] = std::int64_t{knowledge.master->port};
    json::object agent{{"addresses", json::array{json::string(knowledge.master->host)}},
                       {"conditions", json::object{{"ready", true}}}};
    slice["endpoints"] = json::array{std::move(agent)};
    return {slice == before ? Effect::none : Effect::changed};
  }
  return {};
}

}  // namespace holdfast::sync::filters
