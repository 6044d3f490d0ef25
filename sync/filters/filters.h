// The seven filters. Each takes one object as JSON and leaves it unchanged, changes it in place,
// drops it, or reports that something must be known first. Pure.
//
// An object that a filter does not apply to is left unchanged, and so is one whose fields have
// unexpected types.

#pragma once

#include <boost/json/object.hpp>
#include <cstdint>

#include "sync/filters/knowledge.h"

namespace holdfast::sync::filters {

enum class Effect : std::uint8_t { none, changed, dropped, unknown };

struct FilterResult {
  Effect effect = Effect::none;
  Need need = Need::services;  // for `unknown`: what must be known first

  bool operator==(const FilterResult&) const = default;
};

// For a service with a topology, EndpointSlices and Endpoints keep only the endpoints on this node
// or on nodes of its pool. A node without a pool is treated as a pool of its own.
[[nodiscard]] FilterResult service_topology(boost::json::object& endpoints,
                                            const FilterKnowledge& knowledge);
// The EndpointSlices of default/kubernetes get the agent's address, if they have a port "https" and
// the address family of the agent's address.
[[nodiscard]] FilterResult forward_kube_svc_traffic(boost::json::object& slice,
                                                    const FilterKnowledge& knowledge);

// default/kubernetes gets the agent's address, if it has a port "https".
[[nodiscard]] FilterResult master_service(boost::json::object& service,
                                          const FilterKnowledge& knowledge);
// Load balancers that are only for the cloud are dropped.
[[nodiscard]] FilterResult discard_cloud_service(const boost::json::object& service);
// NodePort and LoadBalancer services are dropped in pools that their annotation does not name.
[[nodiscard]] FilterResult node_port_isolation(const boost::json::object& service,
                                               const FilterKnowledge& knowledge);

// In kube-system/kube-proxy the line `kubeconfig:` of config.conf is commented out.
[[nodiscard]] FilterResult in_cluster_config(boost::json::object& configmap);
// In a pod's containers, the variables KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are set
// to the agent's address. Pods without these variables are left unchanged.
[[nodiscard]] FilterResult service_env_updater(boost::json::object& pod,
                                               const FilterKnowledge& knowledge);

// Annotations that make discard_cloud_service() and node_port_isolation() apply to a service.
inline constexpr std::string_view discard_annotation = "svc.openyurt.io/discard";
inline constexpr std::string_view listen_annotation = "nodeport.openyurt.io/listen";
// Variables that service_env_updater() replaces.
inline constexpr std::string_view service_host_variable = "KUBERNETES_SERVICE_HOST";
inline constexpr std::string_view service_port_variable = "KUBERNETES_SERVICE_PORT";
// The API server's service and the name of its port.
inline constexpr std::string_view master_namespace = "default";
inline constexpr std::string_view master_name = "kubernetes";
inline constexpr std::string_view master_port_name = "https";
inline constexpr std::string_view tunnel_namespace = "kube-system";
inline constexpr std::string_view tunnel_service = "x-tunnel-server-internal-svc";
inline constexpr std::string_view proxy_namespace = "kube-system";
inline constexpr std::string_view proxy_configmap = "kube-proxy";
// On EndpointSlices.
inline constexpr std::string_view service_label = "kubernetes.io/service-name";

}  // namespace holdfast::sync::filters
