// Keeps a lower bound for the wall time, for machines whose clock cannot be trusted. Pure.
//
// A board without a battery boots in 1970, and an operator may set the wrong year. So certificates
// and tokens are judged by max(clock, floor). The floor is a time that came from a trusted source
// or was kept from the last run, advanced by the monotonic clock. The wall clock itself never
// raises the floor, so a clock that was a year ahead for an hour does no lasting harm.

#pragma once

#include <optional>

#include "platform/time.h"

namespace holdfast::sync::identity {

class WallFloor {
 public:
  // `kept` is what floor_to_store() returned in the last run; WallTime{} if there is nothing.
  WallFloor(WallTime kept, MonoTime now) : known_(kept), known_at_(now), stored_(kept) {}

  // The time by which expiry is judged: max(wall, floor).
  [[nodiscard]] WallTime trusted_time(MonoTime now, WallTime wall) const;

  // Raises the floor to `time`, for example the start of the validity of a certificate just
  // received.
  void raise_to(MonoTime now, WallTime time);
  // Sets the floor to the time of an authenticated API server. This also lowers a floor that was
  // too high: credentials are judged by that server's clock in the end.
  void set_from_server(MonoTime now, WallTime time);

  // The floor to store for the next run, or std::nullopt if it changed by less than an hour since
  // it was last stored. This limits flash wear.
  [[nodiscard]] std::optional<WallTime> floor_to_store(MonoTime now);

 private:
  [[nodiscard]] WallTime floor(MonoTime now) const { return known_ + (now - known_at_); }

  WallTime known_;
  MonoTime known_at_;
  WallTime stored_;
};

}  // namespace holdfast::sync::identity
