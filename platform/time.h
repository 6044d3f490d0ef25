// Monotonic and wall clock time, as two types that cannot be mixed.
//
// MonoTime counts since boot (CLOCK_BOOTTIME, which keeps running during suspend). It is the only
// time that decisions may be based on. WallTime is calendar time: it jumps when NTP or an operator
// sets it, and is used only for display, for records and on the wire.

#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "platform/result.h"

namespace holdfast {

struct MonoTag {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<MonoTag>;
  static constexpr bool is_steady = true;
};

using Duration = std::chrono::nanoseconds;
using MonoTime = MonoTag::time_point;
using WallTime = std::chrono::sys_time<Duration>;

// The source of the current time for code that is not pure. Pure code takes `now` as an argument.
class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual MonoTime mono() const = 0;
  [[nodiscard]] virtual WallTime wall() const = 0;
};

// CLOCK_BOOTTIME and CLOCK_REALTIME. Stateless; any thread.
class SystemClock final : public Clock {
 public:
  [[nodiscard]] MonoTime mono() const override;
  [[nodiscard]] WallTime wall() const override;
};

// The digits of a second to print: none or six (Kubernetes' Time and MicroTime).
enum class TimeDigits : std::uint8_t { seconds, micros };

// RFC 3339 in UTC: "2026-11-21T01:02:03Z", "2026-11-21T01:02:03.000004Z". Smaller units are
// truncated.
[[nodiscard]] std::string format_rfc3339(WallTime time, TimeDigits digits = TimeDigits::seconds);

// Parses RFC 3339 with any offset. Digits of a second after the ninth are ignored. Errors: invalid,
// quoting the text (also for years outside 1678 to 2261).
[[nodiscard]] Result<WallTime> parse_rfc3339(std::string_view text);

// Durations in Go's format: "1h2m3.5s", "300ms", "-1.5h", "0s".
// Errors of parse: invalid (no unit, unknown unit, or more than about 292 years).
[[nodiscard]] std::string format_duration(Duration duration);
[[nodiscard]] Result<Duration> parse_duration(std::string_view text);

}  // namespace holdfast
