// How the runtime passes a container's arguments and environment to its shim: on standard input,
// because everyone may read the arguments of a process, and a broken LD_PRELOAD in the container's
// environment must not break the shim.

#pragma once

#include <string>
#include <string_view>

#include "platform/result.h"
#include "sync/runtime/launch_plan.h"

namespace holdfast::agent::node {

// No text of the plan may hold a NUL; the working directory is not part of it.
[[nodiscard]] std::string encode_launch(const sync::LaunchPlan& plan);

// Errors: corrupt.
[[nodiscard]] Result<sync::LaunchPlan> decode_launch(std::string_view text);

}  // namespace holdfast::agent::node
