// Times as they are on the wire: seconds since 1970 and nanoseconds.

#pragma once

#include <cstdint>
#include <optional>

#include "platform/time.h"
#include "sync/protobuf/cursor.h"

namespace holdfast::sync {

// Go's zero time, which JSON shows as null.
inline constexpr std::int64_t wire_year_one = -62'135'596'800;

// Nothing when it is outside the years that JSON's times may have: 1678 to 2261.
[[nodiscard]] inline std::optional<WallTime> wall_time(std::int64_t seconds, std::int32_t nanos) {
  constexpr std::int64_t from = -9'214'560'000;  // 1678-01-01
  constexpr std::int64_t to = 9'214'646'400;     // 2262-01-01
  if (seconds < from || seconds >= to || nanos < 0 || nanos >= 1'000'000'000) return std::nullopt;
  return WallTime(std::chrono::seconds(seconds) + std::chrono::nanoseconds(nanos));
}

// Reads the time that the cursor walks over, to the second or to the microsecond. Nothing when it
// is empty: Go writes its zero time so.
void read_wire_time(WireCursor& in, TimeDigits digits, std::optional<WallTime>& out);

}  // namespace holdfast::sync
