// Nodes that their cloud does not hear: who may still go there.
//
// A node out of contact takes new pods only when the pod tolerates it and no other node would do;
// one that is autonomous besides takes none, for what it cannot be told it cannot run, and nobody
// would take the pod away from it again.

#pragma once

#include "sync/model/node.h"

namespace holdfast::sync::schedule {

// Shown Unknown, or tainted unreachable.
[[nodiscard]] bool out_of_contact(const Node& node);

// Out of contact and autonomous: its evictions are withheld.
[[nodiscard]] bool keeps_to_itself(const Node& node);

}  // namespace holdfast::sync::schedule
