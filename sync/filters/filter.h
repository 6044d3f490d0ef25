// OpenYurt's filters: their names, the resources and verbs that each applies to, and the components
// that have it by default.
//
// Names, components and order are OpenYurt's (cmd/yurthub/app/options/filters.go).

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace holdfast::sync::filters {

// In the order in which they are applied.
enum class Filter : std::uint8_t {
  service_topology,
  master_service,
  discard_cloud_service,
  in_cluster_config,
  node_port_isolation,
  forward_kube_svc_traffic,
  service_env_updater,
};

inline constexpr std::array all_filters = {
    Filter::service_topology,    Filter::master_service,      Filter::discard_cloud_service,
    Filter::in_cluster_config,   Filter::node_port_isolation, Filter::forward_kube_svc_traffic,
    Filter::service_env_updater,
};

[[nodiscard]] std::string_view to_string(Filter filter);  // "servicetopology"
[[nodiscard]] std::optional<Filter> parse_filter(std::string_view name);

// Components that have the filter by default.
[[nodiscard]] std::span<const std::string_view> default_components(Filter filter);

// Whether the filter applies to answers of such requests.
[[nodiscard]] bool concerns(Filter filter, std::string_view verb, std::string_view group,
                            std::string_view resource);

// Filters in the order in which they are applied; empty: answers are passed on unchanged.
using FilterChain = std::vector<Filter>;

}  // namespace holdfast::sync::filters
