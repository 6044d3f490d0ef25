// OpenYurt's pod binding: pods on an autonomous edge node get longer toleration seconds for the
// not-ready and unreachable taints, or endless ones. Annotations of the pod store the original
// seconds, which are restored when the node's autonomy ends.

#pragma once

#include <vector>

#include "sync/lifecycle/autonomy.h"
#include "sync/model/node.h"
#include "sync/model/pod.h"
#include "sync/model/string_map.h"

namespace holdfast::sync::lifecycle {

struct PodBinding {
  bool changed = false;
  std::vector<Toleration> tolerations;
  StringMap annotations;

  bool operator==(const PodBinding&) const = default;
};

// The tolerations and annotations that the pod should have. Unchanged for pods of DaemonSets,
// mirror pods, pods on other nodes, and nodes that are not edge workers.
[[nodiscard]] PodBinding bind_pod(const Node& node, const Pod& pod);

// The same for a bindable pod on an edge worker. `annotations` are the pod's, or originals_of() it.
[[nodiscard]] PodBinding bind_pod(const Autonomy& autonomy,
                                  const std::vector<Toleration>& tolerations,
                                  const StringMap& annotations);

// Whether the pod is neither a DaemonSet's nor a mirror pod.
[[nodiscard]] bool is_bindable(const Pod& pod);

// The annotations of a pod that store its original toleration seconds.
[[nodiscard]] StringMap originals_of(const StringMap& annotations);

}  // namespace holdfast::sync::lifecycle
