// Marks the pods of a node that is not ready: the steps of a MarkPods intent.

#pragma once

#include <vector>

#include "sync/lifecycle/effects.h"
#include "sync/lifecycle/facts.h"

namespace holdfast::sync::lifecycle {

// The effects for those of `pods` whose Ready condition exists and is not False.
[[nodiscard]] std::vector<MarkPodNotReady> pods_to_mark(const std::vector<const PodFacts*>& pods,
                                                        WallTime wall);

// Whether the node's pods must be marked again. A pod that no longer exists is not a failure.
[[nodiscard]] bool marking_failed(const Outcome& outcome);

// The event NodeNotReady of the pod. As upstream, it is recorded after a failure as well, but not
// if the pod no longer exists.
[[nodiscard]] Effects after_marking(const MarkPodNotReady& marking, const Outcome& outcome);

}  // namespace holdfast::sync::lifecycle
