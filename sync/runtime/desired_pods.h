// What should run on this node, and whether that is known.
//
// A pod that is missing in a complete list must be stopped. Without a complete list nothing is
// known, which is a type of its own: a runtime that took it for an empty list would stop every pod
// on the node.

#pragma once

#include <memory>
#include <variant>
#include <vector>

#include "sync/model/pod.h"

namespace holdfast::sync::runtime {

// No complete list was ever received, so nothing is known about any pod.
struct NeverReceived {
  bool operator==(const NeverReceived&) const = default;
};

// All pods that are bound to this node, as received last; stays valid during an outage.
struct CompletePods {
  std::vector<std::shared_ptr<const Pod>> pods;  // no element is null
};

using DesiredPods = std::variant<NeverReceived, CompletePods>;

}  // namespace holdfast::sync::runtime
