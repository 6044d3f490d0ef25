// A pod's status as the body of a PATCH of its status subresource.

#pragma once

#include <string>

#include "sync/runtime/actions.h"

namespace holdfast::sync {

// {"metadata":{"uid":...},"status":{...}}: the uid is the precondition. What a status may have had
// before and has no longer (reasons and messages) is null, so that it goes; as a merge patch and as
// a strategic merge patch alike.
[[nodiscard]] std::string status_patch(const PodKey& pod, const PodStatus& status);

}  // namespace holdfast::sync
