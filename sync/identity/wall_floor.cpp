#include "sync/identity/wall_floor.h"

#include <algorithm>

namespace holdfast::sync::identity {

namespace {

constexpr Duration worth_keeping = std::chrono::hours(1);

}  // namespace

WallTime WallFloor::trusted_time(MonoTime now, WallTime wall) const {
  return std::max(wall, floor(now));
}

void WallFloor::raise_to(MonoTime now, WallTime time) {
  if (time > floor(now)) set_from_server(now, time);
}

void WallFloor::set_from_server(MonoTime now, WallTime time) {
  known_ = time;
  known_at_ = now;
}

std::optional<WallTime> WallFloor::floor_to_store(MonoTime now) {
  // Without any known time the floor counts from 1970, which is not worth storing.
  if (known_ == WallTime{}) return std::nullopt;
  const WallTime time = floor(now);
  const Duration moved = time > stored_ ? time - stored_ : stored_ - time;
  if (moved < worth_keeping) return std::nullopt;
  stored_ = time;
  return time;
}

}  // namespace holdfast::sync::identity
