// Limits the size of a container's log.
// The container has the file open for appending, so it cannot be replaced. When it is too large,
// its end is copied to "log.1" and the file is truncated to zero. Lines written between the two
// steps are lost, which is acceptable for labs.

#pragma once

#include <cstdint>

#include "platform/fs/file.h"

namespace holdfast::agent::node {

// The kubelet's containerLogMaxSize.
inline constexpr std::uint64_t log_bytes_max = 10U << 20;

// Truncates `log` if it is larger than `limit` bytes and keeps its last `limit` / 2 bytes in
// "log.1". Returns whether it did. A missing log counts as empty. // Errors: those of the file
// system; `log` is then unchanged.
[[nodiscard]] Result<bool> limit_log(const fs::Path& log, std::uint64_t limit);

}  // namespace holdfast::agent::node
