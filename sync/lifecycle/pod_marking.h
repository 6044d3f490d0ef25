// Marking the pods of a node that is not ready: what MarkPods means.

#pragma once

#include <vector>

#include "sync/lifecycle/effects.h"
#include "sync/lifecycle/facts.h"

namespace holdfast::sync::lifecycle {

// Those that have a Ready condition which is not False yet.
[[nodiscard]] std::vector<MarkPodNotReady> pods_to_mark(const std::vector<const PodFacts*>& pods,
                                                        WallTime wall);

// Whether the node's pods have to be tried again because of this one. A pod that is gone is fine.
[[nodiscard]] bool marking_failed(const Outcome& outcome);

// The pod's event; as upstream it is recorded for a failure, too, but not for a pod that is gone.
[[nodiscard]] Effects after_marking(const MarkPodNotReady& marking, const Outcome& outcome);

}  // namespace holdfast::sync::lifecycle
