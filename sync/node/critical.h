// Pods that the node cannot do without, and who may make room for whom on the node itself.

#pragma once

#include "sync/model/pod.h"

namespace holdfast::sync::node {

// Comes from a file or a URL, not from the API.
[[nodiscard]] bool is_static(const Pod& pod);
// Static, the mirror of such a one, or of a system priority class.
[[nodiscard]] bool is_critical(const Pod& pod);
// Critical before ordinary; else by priority, when both have one.
[[nodiscard]] bool may_preempt(const Pod& preemptor, const Pod& victim);

}  // namespace holdfast::sync::node
