// What objects promise, read from them for the invariants, without the rules under test.

#pragma once

#include <optional>
#include <string>

#include "agent/lab/sim/server.h"
#include "sync/lifecycle/options.h"

namespace holdfast::agent::lab::sim {

// Clocks and watches may differ by this much.
inline constexpr Duration slack = std::chrono::seconds(1);

// Whether the pod has succeeded or failed.
[[nodiscard]] bool has_ended(const sync::Pod& pod);

// Of the lifecycle controller: unreachable or not-ready, with this effect.
[[nodiscard]] bool has_own_taint(const sync::Node& node, std::string_view effect);
[[nodiscard]] std::string zone_of(const sync::Node& node);

// How long the pod stays with the taint: nothing if it does not tolerate it, Duration::max() for
// ever.
[[nodiscard]] std::optional<Duration> stay_of(const sync::Pod& pod, const sync::Taint& taint);
// The shortest of all NoExecute taints; Duration::max() without any.
[[nodiscard]] Duration stay_of(const sync::Pod& pod, const sync::Node& node);

// Whether the node is autonomous without an end, is not Ready, and evictions are withheld then.
[[nodiscard]] bool is_withheld(const sync::Node& node, const sync::lifecycle::Options& rules);
// Likewise: whether its pods keep their Ready condition.
[[nodiscard]] bool keeps_pods_ready(const sync::Node& node, const sync::lifecycle::Options& rules);
// Whether the autonomy has an end, so that the two above say nothing.
[[nodiscard]] bool has_limited_autonomy(const sync::Node& node);

}  // namespace holdfast::agent::lab::sim
