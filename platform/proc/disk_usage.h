// What this process has cost the disks, as the kernel counts it (/proc/self/io, see proc(5)).

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "platform/result.h"

namespace holdfast::proc {

struct DiskUsage {
  std::uint64_t bytes_read = 0;     // fetched from storage
  std::uint64_t bytes_written = 0;  // sent to storage, or to the page cache on their way there

  bool operator==(const DiskUsage&) const = default;
};

// Errors: corrupt (not /proc/PID/io).
[[nodiscard]] Result<DiskUsage> parse_disk_usage(std::string_view text);

// Of this process since its start. Errors: not_found (a kernel that does not count), denied.
[[nodiscard]] Result<DiskUsage> disk_usage();

}  // namespace holdfast::proc
