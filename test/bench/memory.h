// How much memory the process has in use, for figures of bytes a piece.

#pragma once

#include <malloc.h>

#include <cstdint>

namespace holdfast::bench {

// All that malloc handed out, with what it adds to each piece.
[[nodiscard]] inline std::int64_t bytes_in_use() {
  const auto usage = mallinfo2();
  return static_cast<std::int64_t>(usage.uordblks + usage.hblkhd);
}

}  // namespace holdfast::bench
