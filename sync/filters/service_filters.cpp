#include <boost/json.hpp>

#include "platform/text.h"
#include "sync/filters/filters.h"
#include "sync/wire/read.h"

namespace holdfast::sync::filters {
namespace {

namespace json = boost::json;

// The port named "https"; nullptr if there is none.
json::object* port_named_https(json::object& service) {
  json::value* spec = service.if_contains("spec");
  json::value* ports =
      spec != nullptr && spec->is_object() ? spec->get_object().if_contains("ports") : nullptr;
  if (ports == nullptr || !ports->is_array()) return nullptr;
  for (json::value& port : ports->get_array()) {
    if (wire::dig_text(wire::as_object(port), {"name"}) == master_port_name)
      return &port.get_object();
  }
  return nullptr;
}

bool has_type(const json::object& service, std::string_view type) {
  return wire::dig_text(service, {"spec", "type"}) == type;
}

// Whether the annotation's list lets the service listen in the pool. "pool" and "-pool" take
// precedence over "*"; of several entries for the same name the first counts.
bool listens_in(std::string_view list, std::string_view pool) {
  std::optional<bool> all;
  for (const std::string_view part : split(list, ',')) {
    std::string_view name = trim(part);
    const bool wanted = !name.starts_with('-');
    if (!wanted) name.remove_prefix(1);
    if (name == pool) return wanted;
    if (name == "*" && !all) all = wanted;
  }
  return all.value_or(false);
}

}  // namespace

FilterResult master_service(json::object& service, const FilterKnowledge& knowledge) {
  const bool concerned =
      wire::namespace_of(service) == master_namespace && wire::name_of(service) == master_name;
  if (!concerned || !knowledge.master) return {};
  json::object* port = port_named_https(service);
  if (port == nullptr) return {};
  const json::object before = service;
  (*port)["port"] = std::int64_t{knowledge.master->port};
  json::object& spec = service["spec"].get_object();
  spec["clusterIP"] = knowledge.master->host;
  spec["clusterIPs"] = json::array{json::string(knowledge.master->host)};
  return {service == before ? Effect::none : Effect::changed};
}

FilterResult discard_cloud_service(const json::object& service) {
  const bool of_the_cloud =
      has_type(service, "LoadBalancer") &&
      wire::dig_text(service, {"metadata", "annotations", discard_annotation}) == "true";
  const bool tunnel =
      wire::namespace_of(service) == tunnel_namespace && wire::name_of(service) == tunnel_service;
  return {of_the_cloud || tunnel ? Effect::dropped : Effect::none};
}

FilterResult node_port_isolation(const json::object& service, const FilterKnowledge& knowledge) {
  if (!has_type(service, "NodePort") && !has_type(service, "LoadBalancer")) return {};
  const json::value* list = wire::dig(service, {"metadata", "annotations", listen_annotation});
  if (list == nullptr) return {};
  if (!knowledge.node_pool) return {Effect::unknown, Need::node};
  // A node without a pool gets all services, as in plain Kubernetes.
  if (knowledge.node_pool->empty()) return {};
  return {listens_in(wire::as_text(*list), *knowledge.node_pool) ? Effect::none : Effect::dropped};
}

}  // namespace holdfast::sync::filters
