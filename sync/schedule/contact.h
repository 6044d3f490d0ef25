// Which pods may go to nodes from which the cloud does not hear. This rule is Holdfast's own.
//
// A node that is out of contact gets a new pod only if the pod tolerates its taints and no other
// node fits. An autonomous node that is out of contact gets none: it would not learn of the pod,
// and the pod would not be evicted from it either.

#pragma once

#include "sync/model/node.h"

namespace holdfast::sync::schedule {

// Whether the node's Ready condition is Unknown, or the node has the taint unreachable.
[[nodiscard]] bool is_out_of_contact(const Node& node);

// Whether the node is out of contact and autonomous by its annotations.
[[nodiscard]] bool is_autonomous_out_of_contact(const Node& node);

}  // namespace holdfast::sync::schedule
