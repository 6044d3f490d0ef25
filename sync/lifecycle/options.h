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

enum class EvictionMode : std::uint8_t {
  remove,  // as upstream: pods are deleted, whatever their disruption budgets say
  evict    // by the eviction API, which honours budgets; deleted only after the deadline
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
  bool out_of_service = true;              // gate NodeOutOfServiceVolumeDetach (1.24+)
  bool ask_provider = false;               // whether nodes that are not ready exist at all
  bool bind_pods = false;                  // OpenYurt's pod binding
  AutonomyMode autonomy = AutonomyMode::withhold;

  EvictionMode eviction_mode = EvictionMode::remove;
  // Counted from the first try; a pod whose budget forbids it for longer is deleted. Zero: never.
  Duration eviction_deadline = std::chrono::minutes(10);
  // Between two tries that a budget forbids: the first pause, doubled each time up to the last.
  Duration eviction_pause_min = std::chrono::seconds(5);
  Duration eviction_pause_max = std::chrono::minutes(1);

  // Tries of one status write before the node waits for the next pass.
  int status_attempts_max = 5;
};

}  // namespace holdfast::sync::lifecycle
