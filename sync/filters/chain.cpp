#include "sync/filters/chain.h"

#include <optional>

#include "platform/check.h"
#include "sync/filters/object.h"
#include "sync/wire/protobuf/header.h"

namespace holdfast::sync::filters {
namespace {

bool is_named(const wire::ObjectHeader& header, std::string_view space, std::string_view name) {
  return header.namespace_name == space && header.name == name;
}

// Whether the filter could apply, judged by the object's header and raw bytes. Keys and names have
// the same bytes in JSON and protobuf.
bool may_touch(Filter filter, const FilterKnowledge& knowledge, const wire::ObjectHeader& header,
               std::string_view bytes) {
  const auto mentions = [bytes](std::string_view text) {
    return bytes.find(text) != std::string_view::npos;
  };
  switch (filter) {
    case Filter::service_topology: {
      const std::string* service = header.labels.find(service_label);
      if (!knowledge.services) return true;
      return knowledge.services->contains(
                 {header.namespace_name, service == nullptr ? "" : *service}) ||
             knowledge.services->contains({header.namespace_name, header.name});
    }
    case Filter::master_service:
      return knowledge.master && is_named(header, master_namespace, master_name);
    case Filter::discard_cloud_service:
      return mentions(discard_annotation) || is_named(header, tunnel_namespace, tunnel_service);
    case Filter::in_cluster_config:
      return is_named(header, proxy_namespace, proxy_configmap);
    case Filter::node_port_isolation:
      return mentions(listen_annotation);
    case Filter::forward_kube_svc_traffic:
      return knowledge.master && header.namespace_name == master_namespace;
    case Filter::service_env_updater:
      return knowledge.master &&
             (mentions(service_host_variable) || mentions(service_port_variable));
  }
  UNREACHABLE();
}

FilterResult rule(Filter filter, const FilterKnowledge& knowledge, boost::json::object& object) {
  switch (filter) {
    case Filter::service_topology:
      return service_topology(object, knowledge);
    case Filter::master_service:
      return master_service(object, knowledge);
    case Filter::discard_cloud_service:
      return discard_cloud_service(object);
    case Filter::in_cluster_config:
      return in_cluster_config(object);
    case Filter::node_port_isolation:
      return node_port_isolation(object, knowledge);
    case Filter::forward_kube_svc_traffic:
      return forward_kube_svc_traffic(object, knowledge);
    case Filter::service_env_updater:
      return service_env_updater(object, knowledge);
  }
  UNREACHABLE();
}

}  // namespace

Result<FilteredObject> filter_object(const FilterChain& chain, const FilterKnowledge& knowledge,
                                     std::string_view cached) {
  if (chain.empty()) return FilteredObject{};
  TRY(const wire::ObjectHeader header, wire::read_any_header(cached));
  std::optional<OpenedObject> opened;
  bool changed = false;
  for (const Filter filter : chain) {
    if (!may_touch(filter, knowledge, header, cached)) continue;
    if (!opened) {
      TRY(opened, OpenedObject::open(cached));
    }
    const FilterResult result = rule(filter, knowledge, opened->object);
    if (result.effect == Effect::dropped) return FilteredObject{.effect = Effect::dropped};
    if (result.effect == Effect::unknown) {
      return FilteredObject{.effect = Effect::unknown, .need = result.need};
    }
    changed = changed || result.effect == Effect::changed;
  }
  if (!changed) return FilteredObject{};
  TRY(std::string bytes, opened->close());
  return FilteredObject{.effect = Effect::changed, .bytes = std::move(bytes)};
}

}  // namespace holdfast::sync::filters
