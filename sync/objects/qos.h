// The quality of service class of a pod.

#pragma once

#include <cstdint>
#include <string_view>

#include "sync/model/pod.h"

namespace holdfast::sync::objects {

enum class Qos : std::uint8_t { best_effort, burstable, guaranteed };

// "BestEffort", "Burstable", "Guaranteed".
[[nodiscard]] std::string_view to_string(Qos qos);

// The class in the pod's status; if it has none, the class computed from requests and limits of cpu
// and memory. An amount that cannot be parsed or is negative counts as none.
[[nodiscard]] Qos qos_class(const Pod& pod);

}  // namespace holdfast::sync::objects
