// Computes the status that a node reports for a pod: phase, conditions and the state of each
// container. Pure.
//
// It follows the kubelet, except that there are no probes: a running container is ready.

#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "sync/runtime/container_rules.h"
#include "sync/runtime/environment.h"

namespace holdfast::sync::runtime {

struct StatusFacts {
  NodeFacts node = {};
  WallTime now_wall = {};
  WallTime accepted_wall = {};  // when this node accepted the pod; becomes status.startTime
  bool stopped = false;         // no container is running or will be started again
  // Of the whole pod, for example DeadlineExceeded; `message` belongs to it.
  std::string reason = {};
  std::string message = {};
};

// `reported` is the status that was reported last, used for the conditions' times; nullptr if there
// was none. Parts of pod.status that this node does not own are kept.
[[nodiscard]] PodStatus make_pod_status(const Pod& pod, const std::vector<ContainerView>& views,
                                        const StatusFacts& facts, const PodStatus* reported);

// Whether a node writes the conditions of this type. Those of other types belong to others, for
// example to a controller of load balancers, and are not part of what a node reports.
[[nodiscard]] bool is_own_condition(std::string_view type);

// Whether two statuses say the same about what the node writes. The order of their conditions says
// nothing: a strategic merge patch may change it, so two reports on their way would otherwise be
// answered by each other.
[[nodiscard]] bool says_the_same(const PodStatus& left, const PodStatus& right);

}  // namespace holdfast::sync::runtime
