// What has changed between two views, in words: for the list of events, and for an output that is
// no terminal. Pure.

#pragma once

#include <string>
#include <vector>

#include "agent/lab/up/view.h"

namespace holdfast::agent::lab::up {

// One line for each change of a node, a pod, or an upcoming eviction, in the order of the view.
// Ages do not count as changes.
[[nodiscard]] std::vector<std::string> changes_between(const View& before, const View& after);

}  // namespace holdfast::agent::lab::up
