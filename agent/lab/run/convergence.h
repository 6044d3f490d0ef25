// Whether the API says at the end what the nodes say, once all faults are over. Pure.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/lab/cluster/pod_processes.h"
#include "platform/time.h"
#include "sync/model/types.h"

namespace holdfast::agent::lab::run {

// What the API server has. Objects of others are not part of it.
struct ApiState {
  std::vector<sync::Node> nodes;
  std::vector<sync::Lease> leases;  // of the namespace kube-node-lease
  std::vector<sync::Pod> pods;
};

// What a node has.
struct NodeState {
  std::string name;
  bool has_link = true;  // it has power, and its link is not cut: otherwise it is not compared
  std::vector<cluster::ContainerProcess> running;
  // The kubelet's own view, if the node has a kubelet.
  std::optional<std::vector<sync::Pod>> kubelet;
};

// What differs, one sentence each, in the order of the nodes:
//   a node is not Ready, has a taint that a controller has set, or no lease that is valid `now`;
//   a pod of the API does not run, is not Ready, or is being deleted;
//   a container runs of which the API has no pod;
//   a kubelet's phase, container ids or restarts of a pod are not those of the API.
// Pods that have ended or that are bound to no node are not compared.
[[nodiscard]] std::vector<std::string> differences(const ApiState& api,
                                                   const std::vector<NodeState>& nodes,
                                                   WallTime now);

}  // namespace holdfast::agent::lab::run
