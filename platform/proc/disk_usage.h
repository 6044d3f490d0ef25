// How much this process has read from and written to disks, as counted by the kernel
// (/proc/self/io, see proc(5)).

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "platform/result.h"

namespace holdfast::proc {

struct DiskUsage {
  std::uint64_t bytes_read = 0;     // fetched from storage
  std::uint64_t bytes_written = 0;  // sent to storage or to the page cache

  bool operator==(const DiskUsage&) const = default;
};

// Parses the text of /proc/PID/io. Errors: corrupt.
[[nodiscard]] Result<DiskUsage> parse_disk_usage(std::string_view text);

// The usage of this process since its start. Errors: not_found (the kernel does not count it),
// denied.
[[nodiscard]] Result<DiskUsage> disk_usage();

}  // namespace holdfast::proc
