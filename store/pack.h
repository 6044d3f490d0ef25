// Compresses stored values with deflate, if that makes them smaller.
//
// A packed value does not contain its unpacked size: the row stores it, and unpack() returns
// exactly that many bytes or fails. So no value needs more memory than its row announces, and a row
// may not announce more than PackLimits or than its bytes could hold. Pure functions; any thread.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "platform/result.h"

namespace holdfast::store {

struct PackLimits {
  std::size_t plain_min = 256;                 // smaller values are not packed
  std::size_t plain_max = 16UL * 1024 * 1024;  // larger values are not packed
};

// Whether packed sizes are rounded up to multiples of 256 bytes with zeros (coarse). SQLite
// overwrites a row in place if its size stays the same; otherwise it frees and allocates pages,
// which writes more. Use coarse for values that change often.
enum class PackStep : std::uint8_t { exact, coarse };

struct Packed {
  std::string bytes = {};       // unused if it is not packed
  std::int64_t plain_size = 0;  // 0: it is not packed; store the plain bytes
};

// Packs `plain` if that makes it smaller. Deterministic.
[[nodiscard]] Packed pack(std::string_view plain, PackStep step);

// Unpacks to exactly `plain_size` bytes. Errors: corrupt if `packed` does not give exactly that.
[[nodiscard]] Result<std::string> unpack(std::string_view packed, std::int64_t plain_size);

}  // namespace holdfast::store
