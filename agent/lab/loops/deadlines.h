// Times that objects ask for. Clients may write any number of seconds and any time.

#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "platform/time.h"

namespace holdfast::agent::lab {

// `seconds` after `start` (before it if negative), within what a WallTime can hold.
[[nodiscard]] inline WallTime seconds_after(WallTime start, std::int64_t seconds) {
  using Seconds = std::chrono::seconds;
  using std::chrono::floor;
  const std::int64_t from = floor<Seconds>(start).time_since_epoch().count();
  const std::int64_t most = floor<Seconds>(WallTime::max()).time_since_epoch().count() - 1;
  const std::int64_t least = floor<Seconds>(WallTime::min()).time_since_epoch().count() + 1;
  if (seconds > 0 && from > most - std::min(seconds, most)) return WallTime::max();
  if (seconds < 0 && from < least - std::max(seconds, least)) return WallTime::min();
  return start + Seconds(seconds);
}

// Keeps the earlier of two times at which something is due.
inline void bring_forward(std::optional<WallTime>& due, WallTime when) {
  due = due ? std::min(*due, when) : when;
}

}  // namespace holdfast::agent::lab
