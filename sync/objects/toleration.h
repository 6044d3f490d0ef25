// Which taints a pod tolerates, and for how long.

#pragma once

#include <optional>
#include <vector>

#include "platform/time.h"
#include "sync/model/node.h"
#include "sync/model/pod.h"

namespace holdfast::sync::objects {

// `comparisons` allows the operators Gt and Lt; without it they match nothing.
[[nodiscard]] bool tolerates(const Toleration& toleration, const Taint& taint, bool comparisons);

// For every taint the first toleration that matches it, or nothing when one taint has none.
[[nodiscard]] std::optional<std::vector<Toleration>> matching_tolerations(
    const std::vector<Taint>& taints, const std::vector<Toleration>& tolerations, bool comparisons);

// How long `used` lets a pod stay: the shortest, never negative; nothing means for ever. No
// toleration at all means not at all.
[[nodiscard]] std::optional<Duration> shortest_toleration(const std::vector<Toleration>& used);

// Only those that evict.
[[nodiscard]] std::vector<Taint> no_execute_taints(const std::vector<Taint>& taints);

}  // namespace holdfast::sync::objects
