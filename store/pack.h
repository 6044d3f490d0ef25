// How values are kept in fewer bytes: deflated, when that makes them smaller.
//
// A packed value does not tell its own size: the row keeps that beside it, and unpack() gives
// exactly so many bytes or fails. No value grows in memory beyond what its row announces, and no
// row may announce more than PackLimits or than its bytes could hold.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "platform/result.h"

namespace holdfast::store {

struct PackLimits {
  std::size_t plain_min = 256;                 // smaller values are kept as they are
  std::size_t plain_max = 16UL * 1024 * 1024;  // larger ones, too
};

// In steps of how many bytes packed values grow. SQLite overwrites a row in its place when the new
// one has the same size; otherwise it frees and allocates pages, which costs more writes. So what
// changes often is filled up with zeros.
enum class PackStep : std::uint8_t { exact, coarse };

struct Packed {
  std::string bytes = {};       // unused when it is not packed
  std::int64_t plain_size = 0;  // 0: it is not packed, keep the plain bytes
};

// The same bytes give the same.
[[nodiscard]] Packed pack(std::string_view plain, PackStep step);

// Errors: corrupt, when `packed` is not exactly `plain_size` bytes, packed.
[[nodiscard]] Result<std::string> unpack(std::string_view packed, std::int64_t plain_size);

}  // namespace holdfast::store
