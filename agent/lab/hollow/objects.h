// Builds the JSON that hollow nodes write, in the shape in which a kubelet writes it: Nodes and
// their statuses, Leases, and the statuses of pods. Pure.

#pragma once

#include <cstdint>
#include <string>

#include "agent/lab/hollow/plan.h"
#include "agent/lab/hollow/pods.h"
#include "platform/time.h"

namespace holdfast::agent::hollow {

// A Node with its status, as a kubelet registers it.
[[nodiscard]] std::string node_body(const Plan& plan, NodeId node, WallTime now);
// A strategic merge patch with the conditions of a healthy node as of `now`. A condition that
// `current` already has with this status keeps its transition time.
[[nodiscard]] std::string node_status_patch(const sync::NodeStatus& current, WallTime now);
// The node's address, in 198.18.0.0/15 (for benchmarks, RFC 2544), and a pod's, in 100.64.0.0/10.
[[nodiscard]] std::string node_address(NodeId node);
[[nodiscard]] std::string pod_address(std::uint32_t number);

struct LeaseFields {
  std::string node;
  std::string node_uid;      // of the owner
  std::string version = {};  // resourceVersion; "" for a new lease
  std::int32_t duration_seconds = 40;
};
[[nodiscard]] std::string lease_body(const LeaseFields& fields, WallTime renewed);

// A strategic merge patch of a pod's status: Running and Ready, or, with `succeeded`, ended.
[[nodiscard]] std::string pod_status_patch(const HollowPod& pod, bool succeeded, WallTime now);

// A pod that is bound to `node`. It tolerates an unreachable or not ready node for
// `patience_seconds`, and has the label "zone".
struct BoundPod {
  std::string name;
  std::string node;
  std::string zone;
  int patience_seconds = 300;
};
[[nodiscard]] std::string bound_pod(const BoundPod& pod);

}  // namespace holdfast::agent::hollow
