// The seven filters, each on one object as JSON: it is left alone, changed in place or dropped, or
// something is not known that would decide it.
//
// An object that is of no concern to a filter is left alone, whatever it is; so is one whose parts
// are not of the types they should be.

#pragma once

#include <boost/json/object.hpp>
#include <cstdint>

#include "sync/filters/knowledge.h"

namespace holdfast::sync::filters {

enum class Effect : std::uint8_t { none, changed, dropped, unknown };

struct Ruling {
  Effect effect = Effect::none;
  Need need = Need::services;  // of `unknown`

  bool operator==(const Ruling&) const = default;
};

// EndpointSlices and Endpoints of a service with a topology keep the endpoints on this node, or on
// nodes of its pool. A node that is in no pool is a pool of its own.
[[nodiscard]] Ruling service_topology(boost::json::object& endpoints,
                                      const FilterKnowledge& knowledge);
// The slices of default/kubernetes lead to the agent, if they have a port "https" and the agent's
// address is of their family.
[[nodiscard]] Ruling forward_kube_svc_traffic(boost::json::object& slice,
                                              const FilterKnowledge& knowledge);

// default/kubernetes has the agent's address, if it has a port "https".
[[nodiscard]] Ruling master_service(boost::json::object& service, const FilterKnowledge& knowledge);
// Load balancers that are for the cloud only are dropped.
[[nodiscard]] Ruling discard_cloud_service(const boost::json::object& service);
// Services with node ports are dropped in pools that their annotation does not name.
[[nodiscard]] Ruling node_port_isolation(const boost::json::object& service,
                                         const FilterKnowledge& knowledge);

// In kube-system/kube-proxy the line `kubeconfig:` of config.conf becomes a comment.
[[nodiscard]] Ruling in_cluster_config(boost::json::object& configmap);
// The variables KUBERNETES_SERVICE_HOST and _PORT that a pod's containers have say the agent's
// address.
[[nodiscard]] Ruling service_env_updater(boost::json::object& pod,
                                         const FilterKnowledge& knowledge);

// Annotations that make a service a filter's concern.
inline constexpr std::string_view discard_annotation = "svc.openyurt.io/discard";
inline constexpr std::string_view listen_annotation = "nodeport.openyurt.io/listen";
// Names of variables that do so with a pod.
inline constexpr std::string_view service_host_variable = "KUBERNETES_SERVICE_HOST";
inline constexpr std::string_view service_port_variable = "KUBERNETES_SERVICE_PORT";
// The service of the API server, and the port that counts.
inline constexpr std::string_view master_namespace = "default";
inline constexpr std::string_view master_name = "kubernetes";
inline constexpr std::string_view master_port_name = "https";
inline constexpr std::string_view tunnel_namespace = "kube-system";
inline constexpr std::string_view tunnel_service = "x-tunnel-server-internal-svc";
inline constexpr std::string_view proxy_namespace = "kube-system";
inline constexpr std::string_view proxy_configmap = "kube-proxy";
inline constexpr std::string_view service_label = "kubernetes.io/service-name";  // of slices

}  // namespace holdfast::sync::filters
