// Which taints a pod tolerates, and for how long.

#pragma once

#include <optional>
#include <vector>

#include "platform/time.h"
#include "sync/model/node.h"
#include "sync/model/pod.h"

namespace holdfast::sync::objects {

// Whether `toleration` matches `taint`. Without `comparisons` the operators Gt and Lt never match.
[[nodiscard]] bool tolerates(const Toleration& toleration, const Taint& taint, bool comparisons);

// The first matching toleration of each taint, or nullopt if a taint has none.
[[nodiscard]] std::optional<std::vector<Toleration>> matching_tolerations(
    const std::vector<Taint>& taints, const std::vector<Toleration>& tolerations, bool comparisons);

// How long a pod with the matching tolerations `used` may stay: the shortest of their seconds, from
// zero to 100 years. nullopt: for ever. Zero if `used` is empty.
[[nodiscard]] std::optional<Duration> shortest_toleration(const std::vector<Toleration>& used);

// The taints with effect NoExecute.
[[nodiscard]] std::vector<Taint> no_execute_taints(const std::vector<Taint>& taints);

}  // namespace holdfast::sync::objects
