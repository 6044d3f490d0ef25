// Node and Lease: what a node says of itself and how it shows that it lives.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sync/api/meta_types.h"

namespace holdfast::sync {

struct Taint {
  std::string key;
  std::string value;
  std::string effect;  // NoSchedule, PreferNoSchedule, NoExecute
  std::optional<WallTime> time_added;
  Untouched untouched;

  bool operator==(const Taint&) const = default;
};

struct NodeCondition {
  std::string type;
  std::string status;  // True, False, Unknown
  std::optional<WallTime> last_heartbeat_time;
  std::optional<WallTime> last_transition_time;
  std::string reason;
  std::string message;
  Untouched untouched;

  bool operator==(const NodeCondition&) const = default;
};

struct NodeAddress {
  std::string type;  // Hostname, InternalIP, ...
  std::string address;
  Untouched untouched;

  bool operator==(const NodeAddress&) const = default;
};

struct NodeSystem {  // status.nodeInfo
  std::string machine_id;
  std::string system_uuid;
  std::string boot_id;
  std::string kernel_version;
  std::string os_image;
  std::string container_runtime_version;
  std::string kubelet_version;
  std::string kube_proxy_version;
  std::string operating_system;
  std::string architecture;
  Untouched untouched;

  bool operator==(const NodeSystem&) const = default;
};

struct AttachedVolume {
  std::string name;
  std::string device_path;
  Untouched untouched;

  bool operator==(const AttachedVolume&) const = default;
};

struct NodeSpec {
  std::string pod_cidr;
  std::string provider_id;
  bool unschedulable = false;
  std::vector<Taint> taints;
  Untouched untouched;

  bool operator==(const NodeSpec&) const = default;
};

struct NodeStatus {
  StringMap capacity;     // resource name to quantity: quantity.h
  StringMap allocatable;  // the same
  std::string phase;
  std::vector<NodeCondition> conditions;
  std::vector<NodeAddress> addresses;
  NodeSystem node_info;
  std::vector<std::string> volumes_in_use;
  std::vector<AttachedVolume> volumes_attached;
  Untouched untouched;

  bool operator==(const NodeStatus&) const = default;

  // The condition of that type, or nullptr. Borrowed.
  [[nodiscard]] const NodeCondition* condition(std::string_view type) const {
    for (const NodeCondition& found : conditions) {
      if (found.type == type) return &found;
    }
    return nullptr;
  }
};

struct Node {
  static constexpr std::string_view kind = "Node";
  static constexpr std::string_view api_version = "v1";

  ObjectMeta metadata;
  NodeSpec spec;
  NodeStatus status;
  Untouched untouched;

  bool operator==(const Node&) const = default;
};

struct LeaseSpec {
  std::string holder_identity;
  std::optional<std::int32_t> lease_duration_seconds;
  std::optional<WallTime> acquire_time;  // to the microsecond on the wire
  std::optional<WallTime> renew_time;    // the same
  std::optional<std::int32_t> lease_transitions;
  Untouched untouched;

  bool operator==(const LeaseSpec&) const = default;
};

struct Lease {
  static constexpr std::string_view kind = "Lease";
  static constexpr std::string_view api_version = "coordination.k8s.io/v1";

  ObjectMeta metadata;
  LeaseSpec spec;
  Untouched untouched;

  bool operator==(const Lease&) const = default;
};

}  // namespace holdfast::sync
