// Makes the body of a PATCH of a pod's status subresource. Pure.

#pragma once

#include <string>

#include "sync/runtime/actions.h"

namespace holdfast::sync::runtime {

// {"metadata":{"uid":...},"status":{...}}; the uid is the precondition. Reasons and messages that
// the status does not have are set to null, so that earlier ones are removed. The body works as a
// merge patch and as a strategic merge patch.
[[nodiscard]] std::string status_patch(const PodKey& pod, const PodStatus& status);

}  // namespace holdfast::sync::runtime
