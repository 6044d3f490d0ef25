// What an operator may choose about node lifecycle, with upstream's defaults of 1.33 and later.
//
// The historic behaviours are switches here, so that one set of rules serves them all.

#pragma once

#include <cstddef>
#include <cstdint>

#include "platform/time.h"

namespace holdfast::sync::lifecycle {

enum class AutonomyMode : std::uint8_t {
  off,              // the annotations mean nothing, as in Kubernetes
  withhold,         // ours: shown Unknown, no new pods, but nothing evicted and no pod marked
  openyurt,         // yurt-manager 1.6+: pods are not marked NotReady, everything else as usual
  openyurt_classic  // yurt-controller-manager to 1.1: nothing evicted while the node is not Ready
};

struct Options {
  Duration monitor_period = std::chrono::seconds(5);
  Duration startup_grace = std::chrono::seconds(60);
  Duration monitor_grace = std::chrono::seconds(50);
  Duration pod_eviction_timeout = std::chrono::minutes(5);  // without taint_based_evictions

  // Nodes per second and zone. 32 bits, as upstream: 0.1F is not 0.1. Zero and less: stopped.
  float eviction_rate = 0.1F;
  float secondary_eviction_rate = 0.01F;  // zones in partial disruption, when large
  std::size_t large_cluster_size = 50;    // of the zone; strictly more is large
  float unhealthy_zone_threshold = 0.55F;

  bool taint_based_evictions = true;       // false: pods deleted after pod_eviction_timeout
  bool taint_by_condition = true;          // gate TaintNodesByCondition
  bool node_leases = true;                 // gate NodeLease: a renewal is a sign of life
  bool exclude_from_disruption = true;     // gate NodeDisruptionExclusion: the label counts
  bool legacy_node_role = false;           // gate LegacyNodeRoleBehavior: names like ...master
  bool comparison_tolerations = false;     // gate TaintTolerationComparisonOperators: Gt, Lt
  bool disruption_condition = true;        // DisruptionTarget before a taint eviction (1.26+)
  bool finished_evictions_linger = false;  // to 1.32: a name once evicted is not timed again
  bool endless_toleration_cancels = true;  // since 1.19
  bool one_patch_per_swap = true;          // ours; upstream adds and removes in two patches
  AutonomyMode autonomy = AutonomyMode::withhold;

  // Tries of one status write before the node waits for the next pass.
  int status_attempts_max = 5;
};

}  // namespace holdfast::sync::lifecycle
