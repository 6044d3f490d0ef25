// pod.json: the pod as it was last wanted, when this node took it, and why it is being stopped.

#pragma once

#include <string>
#include <string_view>

#include "platform/result.h"
#include "sync/runtime/actions.h"

namespace holdfast::agent::node {

// `boot_id` dates the monotonic time.
[[nodiscard]] std::string to_json(const sync::PodRecord& record, std::string_view boot_id);

// Errors: corrupt.
[[nodiscard]] Result<sync::PodRecord> read_pod_record(std::string_view text,
                                                      std::string_view boot_id);

}  // namespace holdfast::agent::node
