// The status of one container, from what is observed of its processes.

#pragma once

#include <string>

#include "sync/runtime/container_rules.h"

namespace holdfast::sync {

// `going_on` is false once nothing of the pod will be started again. `default_reason` is what a
// container waits for that was never started and has no problem.
[[nodiscard]] ContainerStatus make_container_status(const Pod& pod, const ContainerView& view,
                                                    bool going_on, std::string default_reason);

}  // namespace holdfast::sync
