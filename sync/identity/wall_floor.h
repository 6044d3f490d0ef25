// The earliest that it can be by the calendar, on a machine whose clock is not to be trusted.
//
// A board without a battery boots in 1970, an operator sets the wrong year: what must be judged by
// the calendar (certificates, tokens) is judged by max(clock, floor). The floor is what was surely
// known before: told by somebody whom we believe, or kept from the last run, and from then on
// counted by the monotonic clock. The wall clock itself never raises it, so that a clock that was a
// year ahead for an hour does no harm once it is set right.

#pragma once

#include <optional>

#include "platform/time.h"

namespace holdfast::sync {

class WallFloor {
 public:
  // `kept` is what to_keep() gave in the last run; WallTime{} for nothing.
  WallFloor(WallTime kept, MonoTime now) : known_(kept), known_at_(now), kept_(kept) {}

  // The time by which expiry is judged.
  [[nodiscard]] WallTime judge(MonoTime now, WallTime wall) const;

  // It is at least `time`: a certificate that we were given begins then.
  void at_least(MonoTime now, WallTime time);
  // It is `time`, says an API server that has proved who it is. This also takes back a floor that
  // was too high: its clock is the one that our credentials are judged by in the end.
  void set_from_server(MonoTime now, WallTime time);

  // What is worth keeping for the next run, when it has moved by an hour since it was last asked
  // for and given: flash wears.
  [[nodiscard]] std::optional<WallTime> to_keep(MonoTime now);

 private:
  [[nodiscard]] WallTime floor(MonoTime now) const { return known_ + (now - known_at_); }

  WallTime known_;
  MonoTime known_at_;
  WallTime kept_;
};

}  // namespace holdfast::sync
