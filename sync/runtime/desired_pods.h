// What should run on this node, and how sure we are of it.
//
// Absence from a complete list means "stop it". Not having a complete list means nothing at all,
// and is a type of its own: a runtime that took it for an empty list would stop every pod on the
// node.

#pragma once

#include <memory>
#include <variant>
#include <vector>

#include "sync/model/pod.h"

namespace holdfast::sync {

// No complete list was ever received: nothing is known of any pod.
struct NeverReceived {
  bool operator==(const NeverReceived&) const = default;
};

// Every pod that is bound to this node, as last heard; also through an outage.
struct CompletePods {
  std::vector<std::shared_ptr<const Pod>> pods;  // none is null
};

using DesiredPods = std::variant<NeverReceived, CompletePods>;

}  // namespace holdfast::sync
