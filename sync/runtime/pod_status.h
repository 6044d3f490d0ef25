// The status that a node reports for a pod: phase, conditions and the state of each container.
//
// As the kubelet computes it. There are no probes: a container that runs is ready.

#pragma once

#include <optional>
#include <vector>

#include "sync/runtime/container_rules.h"
#include "sync/runtime/environment.h"

namespace holdfast::sync {

struct StatusFacts {
  NodeFacts node = {};
  WallTime now_wall = {};
  WallTime accepted_wall = {};  // when this node took the pod: status.startTime
  bool stopped = false;         // nothing of it runs, and nothing will again
  std::string reason = {};      // of the pod as a whole, with its message: DeadlineExceeded
  std::string message = {};
};

// `reported` is what we said last, for the times of the conditions; nullptr when nothing yet. What
// others have written into pod.status and is not ours to say is kept.
[[nodiscard]] PodStatus make_pod_status(const Pod& pod, const std::vector<ContainerView>& views,
                                        const StatusFacts& facts, const PodStatus* reported);

}  // namespace holdfast::sync
