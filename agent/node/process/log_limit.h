// Keeps a container's log from filling the flash.
//
// The container holds the file open for appending, so it cannot be replaced: when it has grown too
// large its end is copied to "log.1" and the file itself is emptied. Lines that are written between
// the two are lost; this is for labs.

#pragma once

#include <cstdint>

#include "platform/fs/file.h"

namespace holdfast::agent::node {

// The kubelet's containerLogMaxSize.
inline constexpr std::uint64_t log_bytes_max = 10U << 20;

// Whether the log was cut. At most 1.5 x `limit` stays, and what is written until the next call.
// Errors: as fs::atomic_write(); the log then stays as it is. A log that is not there is short.
[[nodiscard]] Result<bool> limit_log(const fs::Path& log, std::uint64_t limit);

}  // namespace holdfast::agent::node
