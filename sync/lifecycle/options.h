// The options of the node lifecycle and taint eviction controllers, with upstream's defaults of
// 1.33 and later. Other values of some options select the behaviour of older releases.

#pragma once

#include <cstddef>
#include <cstdint>

#include "platform/time.h"

namespace holdfast::sync::lifecycle {

enum class AutonomyMode : std::uint8_t {
  off,              // the annotations are ignored, as in Kubernetes
  withhold,         // ours: shown Unknown, no new pods, but no pod is evicted or marked NotReady
  openyurt,         // yurt-manager 1.6+: pods are not marked NotReady, all else as in Kubernetes
  openyurt_classic  // yurt-controller-manager to 1.1: no evictions while the node is not Ready
};

enum class EvictionMode : std::uint8_t {
  remove,  // as upstream: pods are deleted even if a PodDisruptionBudget forbids their eviction
  evict    // by the eviction API, which honours budgets; deleted after eviction_deadline
};

struct Options {
  Duration monitor_period = std::chrono::seconds(5);
  Duration startup_grace = std::chrono::seconds(60);
  Duration monitor_grace = std::chrono::seconds(50);
  Duration pod_eviction_timeout = std::chrono::minutes(5);  // without taint_based_evictions

  // Nodes per second in each zone; zero or less stops evictions. 32 bits, as upstream, because the
  // value 0.1F differs from 0.1.
  float eviction_rate = 0.1F;
  float secondary_eviction_rate = 0.01F;  // for large zones in partial disruption
  std::size_t large_cluster_size = 50;    // a zone with more nodes than this is large
  float unhealthy_zone_threshold = 0.55F;

  // Gate TaintBasedEvictions: lost nodes get NoExecute taints. false: their pods are deleted after
  // pod_eviction_timeout (direct_eviction.h). Whether NoExecute taints evict pods, also those of
  // others, is decided by EnabledControllers::taint_eviction alone.
  bool taint_based_evictions = true;
  bool taint_by_condition = true;          // gate TaintNodesByCondition
  bool node_leases = true;                 // gate NodeLease: a renewal is a sign of life
  bool exclude_from_disruption = true;     // gate NodeDisruptionExclusion: the label counts
  bool legacy_node_role = false;           // gate LegacyNodeRoleBehavior: names like ...master
  bool comparison_tolerations = false;     // gate TaintTolerationComparisonOperators: Gt, Lt
  bool disruption_condition = true;        // DisruptionTarget before a taint eviction (1.26+)
  bool finished_evictions_linger = false;  // to 1.32: no timer for the name of an evicted pod
  bool endless_toleration_cancels = true;  // since 1.19: an endless toleration stops the timer
  // Upstream's way: a timer goes on when the taint that started it is gone but another is left,
  // even if the pod tolerates that one for longer. Withheld taints never leave a timer.
  bool timers_outlive_taints = false;
  bool one_patch_per_swap = true;  // ours; upstream adds and removes in two patches
  bool mark_pods_again = true;     // ours; see Fleet::pod_became_ready()
  bool out_of_service = true;      // gate NodeOutOfServiceVolumeDetach (1.24+)
  bool ask_provider = false;       // ask whether the machines of not-ready nodes exist
  bool bind_pods = false;          // OpenYurt's pod binding
  AutonomyMode autonomy = AutonomyMode::withhold;

  EvictionMode eviction_mode = EvictionMode::remove;
  // Time from the first attempt until a pod that a budget protects is deleted. Zero: never.
  Duration eviction_deadline = std::chrono::minutes(10);
  // Pause after an attempt that a budget forbids: the shortest, doubled each time up to the
  // longest.
  Duration eviction_pause_min = std::chrono::seconds(5);
  Duration eviction_pause_max = std::chrono::minutes(1);

  // Attempts at one status write before the node waits for the next pass.
  int status_attempts_max = 5;
};

}  // namespace holdfast::sync::lifecycle
