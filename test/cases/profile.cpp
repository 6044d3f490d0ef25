#include "test/cases/profile.h"

namespace holdfast::cases {

namespace lifecycle = sync::lifecycle;

namespace {

// The behaviour of Kubernetes before 1.21, and of controllers that were forked from it.
void make_historic(lifecycle::Options& options) {
  options.legacy_node_role = true;
  options.disruption_condition = false;
  options.finished_evictions_linger = true;
}

void apply_gates(const json::object& gates, lifecycle::Options& options) {
  options.exclude_from_disruption =
      flag(gates, "NodeDisruptionExclusion", options.exclude_from_disruption);
  options.legacy_node_role = flag(gates, "LegacyNodeRoleBehavior", options.legacy_node_role);
  options.comparison_tolerations =
      flag(gates, "TaintTolerationComparisonOperators", options.comparison_tolerations);
  options.disruption_condition =
      flag(gates, "PodDisruptionConditions", options.disruption_condition);
  options.taint_based_evictions = flag(gates, "TaintBasedEvictions", options.taint_based_evictions);
}

Duration positive(const json::value& value) {
  const Duration found = duration_of(value);
  if (found <= Duration::zero()) throw Malformed(value, "expected more than 0 seconds");
  return found;
}

// A rate per second, or a share.
float share_of(const json::value& value) {
  constexpr double most = 1e9;
  const double found = number_of(value);
  if (found < 0 || found > most) throw Malformed(value, "expected a number from 0 to 1000000000");
  return static_cast<float>(found);
}

void apply_config(const json::object& config, lifecycle::Options& options) {
  const auto duration = [&config](std::string_view name, Duration& value) {
    if (const auto* found = find(config, name)) value = positive(*found);
  };
  const auto rate = [&config](std::string_view name, float& value) {
    if (const auto* found = find(config, name)) value = share_of(*found);
  };
  duration("nodeMonitorPeriod", options.monitor_period);
  duration("nodeStartupGracePeriod", options.startup_grace);
  duration("nodeMonitorGracePeriod", options.monitor_grace);
  duration("podEvictionTimeout", options.pod_eviction_timeout);
  rate("nodeEvictionRate", options.eviction_rate);
  rate("secondaryNodeEvictionRate", options.secondary_eviction_rate);
  rate("unhealthyZoneThreshold", options.unhealthy_zone_threshold);
  options.large_cluster_size =
      static_cast<std::size_t>(integer(config, "largeClusterSizeThreshold", {},
                                       static_cast<std::int64_t>(options.large_cluster_size)));
  options.taint_based_evictions = flag(config, "enableTaintManager", options.taint_based_evictions);
  if (find(config, "partialDisruptionRateOverride") != nullptr) {
    options.large_cluster_size = 0;  // every zone is large, so this rate always applies
    rate("partialDisruptionRateOverride", options.secondary_eviction_rate);
  }
}

}  // namespace

std::optional<lifecycle::Options> profile_of(std::string_view variant, const json::object& config) {
  lifecycle::Options options;
  options.autonomy = lifecycle::AutonomyMode::off;
  options.one_patch_per_swap = false;
  options.mark_pods_again = false;
  if (variant == "k8s-1.20") {
    make_historic(options);
  } else if (variant == "k8s-1.16") {
    make_historic(options);
    options.endless_toleration_cancels = false;
  } else if (variant == "openyurt") {
    make_historic(options);
    options.legacy_node_role = false;
    options.autonomy = lifecycle::AutonomyMode::openyurt;
  } else if (variant == "openyurt-1.0") {
    make_historic(options);
    options.autonomy = lifecycle::AutonomyMode::openyurt_classic;
  } else if (variant != "k8s-head") {
    return std::nullopt;
  }
  apply_config(config, options);
  apply_gates(object_in(config, "featureGates"), options);
  return options;
}

std::string_view lifecycle_source(std::string_view variant) {
  return variant == "openyurt" ? "node-life-cycle-controller" : "node-controller";
}

std::string_view eviction_source(std::string_view variant) {
  return variant == "k8s-head" ? "taint-eviction-controller" : "taint-controller";
}

}  // namespace holdfast::cases
