// The file pod.json: the pod as it was last received, when this node accepted it, and, if it is
// being stopped, why.

#pragma once

#include <string>
#include <string_view>

#include "platform/result.h"
#include "sync/runtime/actions.h"

namespace holdfast::agent::node {

// `boot_id` identifies the boot that the monotonic times belong to.
[[nodiscard]] std::string to_json(const sync::runtime::PodRecord& record, std::string_view boot_id);

// The monotonic time is left out if it is of another boot than `boot_id`. Errors: corrupt.
[[nodiscard]] Result<sync::runtime::PodRecord> read_pod_record(std::string_view text,
                                                               std::string_view boot_id);

}  // namespace holdfast::agent::node
