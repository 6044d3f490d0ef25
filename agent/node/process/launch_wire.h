// Encodes a container's arguments and environment for its shim, which reads them from standard
// input. They are not the shim's own arguments and environment, because every user may read the
// arguments of a process, and an LD_PRELOAD in the container's environment would affect the shim.

#pragma once

#include <string>
#include <string_view>

#include "platform/result.h"
#include "sync/runtime/launch_plan.h"

namespace holdfast::agent::node {

// No string of the plan may contain a NUL. The working directory is not encoded.
[[nodiscard]] std::string encode_launch(const sync::runtime::LaunchPlan& plan);

// Errors: corrupt.
[[nodiscard]] Result<sync::runtime::LaunchPlan> decode_launch(std::string_view text);

}  // namespace holdfast::agent::node
