// Pod: what should run, and what its node says is running.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sync/api/affinity_types.h"
#include "sync/api/boxed.h"
#include "sync/api/meta_types.h"

namespace holdfast::sync {

struct Toleration {
  std::string key;
  std::string operator_name;  // "operator" on the wire: Exists, Equal; empty means Equal
  std::string value;
  std::string effect;  // empty: all effects
  std::optional<std::int64_t> toleration_seconds;
  Untouched untouched;

  bool operator==(const Toleration&) const = default;
};

// One key of a ConfigMap or Secret, or all of it when `key` is unused.
struct KeyReference {
  std::string name;
  std::string key;
  std::optional<bool> optional;
  Untouched untouched;

  bool operator==(const KeyReference&) const = default;
};

struct FieldReference {
  std::string api_version;
  std::string field_path;
  Untouched untouched;

  bool operator==(const FieldReference&) const = default;
};

struct EnvSource {  // valueFrom; one of them is set, or none that we know
  std::optional<FieldReference> field_ref;
  std::optional<KeyReference> config_map_key_ref;
  std::optional<KeyReference> secret_key_ref;
  Untouched untouched;

  bool operator==(const EnvSource&) const = default;
};

struct EnvVar {
  std::string name;
  std::string value;
  Boxed<EnvSource> value_from;
  Untouched untouched;

  bool operator==(const EnvVar&) const = default;
};

struct EnvFrom {
  std::string prefix;
  std::optional<KeyReference> config_map_ref;
  std::optional<KeyReference> secret_ref;
  Untouched untouched;

  bool operator==(const EnvFrom&) const = default;
};

struct ResourceRequirements {
  StringMap limits;    // resource name to quantity: quantity.h
  StringMap requests;  // the same
  Untouched untouched;

  bool operator==(const ResourceRequirements&) const = default;
};

struct ContainerPort {
  std::string name;
  std::int32_t host_port = 0;
  std::int32_t container_port = 0;
  std::string protocol;
  std::string host_ip;
  Untouched untouched;

  bool operator==(const ContainerPort&) const = default;
};

struct Container {
  std::string name;
  std::string image;
  std::vector<std::string> command;
  std::vector<std::string> args;
  std::string working_dir;
  std::vector<ContainerPort> ports;
  std::vector<EnvFrom> env_from;
  std::vector<EnvVar> env;
  ResourceRequirements resources;
  std::string restart_policy;  // of an init container: "Always" makes it a sidecar
  std::string image_pull_policy;
  Untouched untouched;

  bool operator==(const Container&) const = default;
};

struct PodSpec {
  std::vector<Container> init_containers;
  std::vector<Container> containers;
  std::string restart_policy;
  std::optional<std::int64_t> termination_grace_period_seconds;
  std::optional<std::int64_t> active_deadline_seconds;
  StringMap node_selector;
  std::string service_account_name;
  std::string node_name;
  bool host_network = false;
  Boxed<Affinity> affinity;
  std::string scheduler_name;
  std::vector<Toleration> tolerations;
  std::string priority_class_name;
  std::optional<std::int32_t> priority;
  std::string preemption_policy;
  StringMap overhead;  // resource name to quantity
  std::vector<TopologySpreadConstraint> topology_spread_constraints;
  std::vector<PodSchedulingGate> scheduling_gates;
  Untouched untouched;

  bool operator==(const PodSpec&) const = default;
};

struct PodCondition {
  std::string type;
  std::string status;  // True, False, Unknown
  std::optional<WallTime> last_probe_time;
  std::optional<WallTime> last_transition_time;
  std::string reason;
  std::string message;
  Untouched untouched;

  bool operator==(const PodCondition&) const = default;
};

struct ContainerWaiting {
  std::string reason;
  std::string message;
  Untouched untouched;

  bool operator==(const ContainerWaiting&) const = default;
};

struct ContainerRunning {
  std::optional<WallTime> started_at;
  Untouched untouched;

  bool operator==(const ContainerRunning&) const = default;
};

struct ContainerTerminated {
  std::int32_t exit_code = 0;
  std::int32_t signal = 0;
  std::string reason;
  std::string message;
  std::optional<WallTime> started_at;
  std::optional<WallTime> finished_at;
  std::string container_id;
  Untouched untouched;

  bool operator==(const ContainerTerminated&) const = default;
};

struct ContainerState {  // at most one is set
  Boxed<ContainerWaiting> waiting;
  Boxed<ContainerRunning> running;
  Boxed<ContainerTerminated> terminated;
  Untouched untouched;

  bool operator==(const ContainerState&) const = default;
};

struct ContainerStatus {
  std::string name;
  ContainerState state;
  ContainerState last_state;
  bool ready = false;
  std::int32_t restart_count = 0;
  std::string image;
  std::string image_id;
  std::string container_id;
  std::optional<bool> started;
  Untouched untouched;

  bool operator==(const ContainerStatus&) const = default;
};

struct PodIp {
  std::string ip;
  Untouched untouched;

  bool operator==(const PodIp&) const = default;
};

struct PodStatus {
  std::string phase;  // Pending, Running, Succeeded, Failed, Unknown
  std::vector<PodCondition> conditions;
  std::string message;
  std::string reason;
  std::string nominated_node_name;
  std::string host_ip;
  std::string pod_ip;
  std::vector<PodIp> pod_ips;
  std::optional<WallTime> start_time;
  std::vector<ContainerStatus> init_container_statuses;
  std::vector<ContainerStatus> container_statuses;
  std::string qos_class;
  Untouched untouched;

  bool operator==(const PodStatus&) const = default;

  // The condition of that type, or nullptr. Borrowed.
  [[nodiscard]] const PodCondition* condition(std::string_view type) const {
    for (const PodCondition& found : conditions) {
      if (found.type == type) return &found;
    }
    return nullptr;
  }
};

struct Pod {
  static constexpr std::string_view kind = "Pod";
  static constexpr std::string_view api_version = "v1";

  ObjectMeta metadata;
  PodSpec spec;
  PodStatus status;
  Untouched untouched;

  bool operator==(const Pod&) const = default;
};

// A pod to be: what the controllers of pods carry.
struct PodTemplate {
  ObjectMeta metadata;
  PodSpec spec;
  Untouched untouched;

  bool operator==(const PodTemplate&) const = default;
};

}  // namespace holdfast::sync
