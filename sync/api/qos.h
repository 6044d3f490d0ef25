// How well a pod has said what it needs: its quality of service class.

#pragma once

#include <cstdint>
#include <string_view>

#include "sync/model/pod.h"

namespace holdfast::sync::node {

enum class Qos : std::uint8_t { best_effort, burstable, guaranteed };

// "BestEffort", "Burstable", "Guaranteed".
[[nodiscard]] std::string_view to_string(Qos qos);

// What the status says, when it does; else by requests and limits of cpu and memory. An amount that
// cannot be read counts as none.
[[nodiscard]] Qos qos_class(const Pod& pod);

}  // namespace holdfast::sync::node
