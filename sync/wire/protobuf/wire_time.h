// Times on the wire: seconds since 1970 and nanoseconds.

#pragma once

#include <cstdint>
#include <optional>

#include "platform/time.h"
#include "sync/wire/protobuf/cursor.h"

namespace holdfast::sync::wire {

// Go's zero time, which is null in JSON.
inline constexpr std::int64_t wire_year_one = -62'135'596'800;

// Returns nothing if the time is outside the years 1678 to 2261, which are also the limits for
// times in JSON.
[[nodiscard]] inline std::optional<WallTime> wall_time(std::int64_t seconds, std::int32_t nanos) {
  constexpr std::int64_t from = -9'214'560'000;  // 1678-01-01
  constexpr std::int64_t to = 9'214'646'400;     // 2262-01-01
  if (seconds < from || seconds >= to || nanos < 0 || nanos >= 1'000'000'000) return std::nullopt;
  return WallTime(std::chrono::seconds(seconds) + std::chrono::nanoseconds(nanos));
}

// Reads the time message at the cursor, in seconds or microseconds. `out` is not set if the message
// is empty or has Go's zero time.
void read_wire_time(WireCursor& in, TimeDigits digits, std::optional<WallTime>& out);

}  // namespace holdfast::sync::wire
