// Tells which pods are critical for a node, and which pod may preempt which on the node itself.
// Pure.

#pragma once

#include "sync/model/pod.h"

namespace holdfast::sync::node {

// Whether the pod comes from a file or URL instead of the API.
[[nodiscard]] bool is_static(const Pod& pod);
// Whether the pod is static, a static pod's mirror, or of a system priority class.
[[nodiscard]] bool is_critical(const Pod& pod);
// A critical pod may preempt an ordinary one. Otherwise the higher priority decides, if both pods
// have one.
[[nodiscard]] bool may_preempt(const Pod& preemptor, const Pod& victim);

}  // namespace holdfast::sync::node
