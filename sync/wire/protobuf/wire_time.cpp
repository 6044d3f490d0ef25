#include "sync/wire/protobuf/wire_time.h"

namespace holdfast::sync::wire {

void read_wire_time(WireCursor& in, TimeDigits digits, std::optional<WallTime>& out) {
  std::int64_t seconds = 0;
  std::int64_t nanos = 0;
  bool there = false;
  while (in.next()) {
    if (in.number() == 1) there = in.integer(seconds);
    if (in.number() == 2) in.integer(nanos);
  }
  if (!in.ok() || !there || seconds == wire_year_one) return;
  const auto micros = static_cast<std::int32_t>(nanos - nanos % 1000);
  out = wall_time(seconds, digits == TimeDigits::micros ? micros : 0);
  if (!out) in.fail_here("time out of range");
}

}  // namespace holdfast::sync::wire
