// Computes the status of one container from its attempts, as the kubelet does. Pure.

#pragma once

#include <string>

#include "sync/runtime/container_rules.h"

namespace holdfast::sync::runtime {

// `going_on` is false when no container of the pod will be started again. `default_reason` is the
// waiting reason of a container that was never started and has no problem.
[[nodiscard]] ContainerStatus make_container_status(const Pod& pod, const ContainerView& view,
                                                    bool going_on, std::string default_reason);

}  // namespace holdfast::sync::runtime
