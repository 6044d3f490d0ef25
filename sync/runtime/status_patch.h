// Makes the body of a PATCH of a pod's status subresource. Pure.

#pragma once

#include <string>

#include "sync/runtime/actions.h"

namespace holdfast::sync::runtime {

// {"metadata":{"uid":...},"status":{...}}; the uid is the precondition. Reasons and messages that
// the status does not have are set to null, so that earlier ones are removed. Conditions of others
// are not in it: the node may have seen older ones. The body is a strategic merge patch.
[[nodiscard]] std::string status_patch(const PodKey& pod, const PodStatus& status);

}  // namespace holdfast::sync::runtime
