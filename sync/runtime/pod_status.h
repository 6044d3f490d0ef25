// Computes the status that a node reports for a pod: phase, conditions and the state of each
// container. Pure.
//
// It follows the kubelet, except that there are no probes: a running container is ready.

#pragma once

#include <optional>
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

}  // namespace holdfast::sync::runtime
