// OpenYurt's pod binding: the tolerations of pods on an autonomous edge node are made longer, and
// what they were before is remembered in the pod's annotations.

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

// What the pod ought to have. Unchanged for pods of DaemonSets, mirror pods, pods elsewhere, and on
// nodes that are no edge workers.
[[nodiscard]] PodBinding bind_pod(const Node& node, const Pod& pod);

// The same for a bindable pod on an edge worker. `annotations` are the pod's.
[[nodiscard]] PodBinding bind_pod(const Autonomy& autonomy,
                                  const std::vector<Toleration>& tolerations,
                                  const StringMap& annotations);

// Neither a DaemonSet's nor a mirror pod.
[[nodiscard]] bool is_bindable(const Pod& pod);

// Those of the pod's annotations in which the binding remembers.
[[nodiscard]] StringMap originals_of(const StringMap& annotations);

}  // namespace holdfast::sync::lifecycle
