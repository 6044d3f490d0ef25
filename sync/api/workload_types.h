// What keeps pods in being: ReplicaSet, Deployment, DaemonSet and PodDisruptionBudget, as far as
// the built-in loops and evictions need them.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sync/api/meta_types.h"
#include "sync/api/pod_types.h"

namespace holdfast::sync {

struct ReplicaSetSpec {
  std::optional<std::int32_t> replicas;  // absent: 1
  std::int32_t min_ready_seconds = 0;
  LabelSelector selector;
  PodTemplate pod_template;  // "template" on the wire
  Untouched untouched;

  bool operator==(const ReplicaSetSpec&) const = default;
};

struct ReplicaSetStatus {
  std::int32_t replicas = 0;
  std::int32_t fully_labeled_replicas = 0;
  std::int32_t ready_replicas = 0;
  std::int32_t available_replicas = 0;
  std::int64_t observed_generation = 0;
  Untouched untouched;

  bool operator==(const ReplicaSetStatus&) const = default;
};

struct ReplicaSet {
  static constexpr std::string_view kind = "ReplicaSet";
  static constexpr std::string_view api_version = "apps/v1";

  ObjectMeta metadata;
  ReplicaSetSpec spec;
  ReplicaSetStatus status;
  Untouched untouched;

  bool operator==(const ReplicaSet&) const = default;
};

struct RollingUpdate {
  std::optional<IntOrString> max_unavailable;
  std::optional<IntOrString> max_surge;
  Untouched untouched;

  bool operator==(const RollingUpdate&) const = default;
};

struct UpdateStrategy {
  std::string type;  // RollingUpdate, Recreate (Deployment), OnDelete (DaemonSet)
  Boxed<RollingUpdate> rolling_update;
  Untouched untouched;

  bool operator==(const UpdateStrategy&) const = default;
};

struct DeploymentSpec {
  std::optional<std::int32_t> replicas;  // absent: 1
  LabelSelector selector;
  PodTemplate pod_template;  // "template" on the wire
  UpdateStrategy strategy;
  std::int32_t min_ready_seconds = 0;
  std::optional<std::int32_t> revision_history_limit;
  bool paused = false;
  std::optional<std::int32_t> progress_deadline_seconds;
  Untouched untouched;

  bool operator==(const DeploymentSpec&) const = default;
};

struct DeploymentCondition {
  std::string type;
  std::string status;  // True, False, Unknown
  std::optional<WallTime> last_update_time;
  std::optional<WallTime> last_transition_time;
  std::string reason;
  std::string message;
  Untouched untouched;

  bool operator==(const DeploymentCondition&) const = default;
};

struct DeploymentStatus {
  std::int64_t observed_generation = 0;
  std::int32_t replicas = 0;
  std::int32_t updated_replicas = 0;
  std::int32_t ready_replicas = 0;
  std::int32_t available_replicas = 0;
  std::int32_t unavailable_replicas = 0;
  std::vector<DeploymentCondition> conditions;
  Untouched untouched;

  bool operator==(const DeploymentStatus&) const = default;
};

struct Deployment {
  static constexpr std::string_view kind = "Deployment";
  static constexpr std::string_view api_version = "apps/v1";

  ObjectMeta metadata;
  DeploymentSpec spec;
  DeploymentStatus status;
  Untouched untouched;

  bool operator==(const Deployment&) const = default;
};

struct DaemonSetSpec {
  LabelSelector selector;
  PodTemplate pod_template;  // "template" on the wire
  UpdateStrategy update_strategy;
  std::int32_t min_ready_seconds = 0;
  std::optional<std::int32_t> revision_history_limit;
  Untouched untouched;

  bool operator==(const DaemonSetSpec&) const = default;
};

struct DaemonSetStatus {
  std::int32_t current_number_scheduled = 0;
  std::int32_t number_misscheduled = 0;
  std::int32_t desired_number_scheduled = 0;
  std::int32_t number_ready = 0;
  std::int64_t observed_generation = 0;
  std::int32_t updated_number_scheduled = 0;
  std::int32_t number_available = 0;
  std::int32_t number_unavailable = 0;
  Untouched untouched;

  bool operator==(const DaemonSetStatus&) const = default;
};

struct DaemonSet {
  static constexpr std::string_view kind = "DaemonSet";
  static constexpr std::string_view api_version = "apps/v1";

  ObjectMeta metadata;
  DaemonSetSpec spec;
  DaemonSetStatus status;
  Untouched untouched;

  bool operator==(const DaemonSet&) const = default;
};

struct PodDisruptionBudgetSpec {
  std::optional<IntOrString> min_available;
  std::optional<LabelSelector> selector;  // absent: no pod; empty: all of the namespace (v1)
  std::optional<IntOrString> max_unavailable;
  Untouched untouched;

  bool operator==(const PodDisruptionBudgetSpec&) const = default;
};

struct PodDisruptionBudgetStatus {
  std::int64_t observed_generation = 0;
  StringMap disrupted_pods;  // name of a pod being evicted to when that began
  std::int32_t disruptions_allowed = 0;
  std::int32_t current_healthy = 0;
  std::int32_t desired_healthy = 0;
  std::int32_t expected_pods = 0;
  Untouched untouched;  // conditions

  bool operator==(const PodDisruptionBudgetStatus&) const = default;
};

struct PodDisruptionBudget {
  static constexpr std::string_view kind = "PodDisruptionBudget";
  static constexpr std::string_view api_version = "policy/v1";

  ObjectMeta metadata;
  PodDisruptionBudgetSpec spec;
  PodDisruptionBudgetStatus status;
  Untouched untouched;

  bool operator==(const PodDisruptionBudget&) const = default;
};

}  // namespace holdfast::sync
