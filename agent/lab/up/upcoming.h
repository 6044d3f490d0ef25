// What the lifecycle controller will do next with a node and its pods, as far as their objects show
// it. No I/O.

#pragma once

#include <vector>

#include "agent/lab/up/observed.h"

namespace holdfast::agent::lab::up {

// What is going to happen to one node and its pods; nothing if it is Ready and sends heartbeats.
// A pod that tolerates the node's taints for ever is not listed. `lease` may be null.
[[nodiscard]] std::vector<Upcoming> upcoming_on(const sync::Node& node,
                                                const std::vector<const sync::Pod*>& pods,
                                                const LeaseSeen* lease,
                                                const sync::lifecycle::Options& rules, Moment now);

}  // namespace holdfast::agent::lab::up
