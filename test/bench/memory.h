// The memory that the process has allocated, to compute bytes per item.

#pragma once

#include <malloc.h>

#include <cstdint>

namespace holdfast::bench {

// All bytes that malloc handed out, including its overhead.
[[nodiscard]] inline std::int64_t bytes_in_use() {
  const auto usage = mallinfo2();
  return static_cast<std::int64_t>(usage.uordblks + usage.hblkhd);
}

}  // namespace holdfast::bench
