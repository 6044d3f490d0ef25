#include "platform/time.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <utility>

#include "platform/text.h"

namespace holdfast {
namespace {

using std::chrono::nanoseconds;
using std::chrono::seconds;

nanoseconds read_clock(clockid_t id) {
  timespec time{};
  (void)clock_gettime(id, &time);
  return seconds(time.tv_sec) + nanoseconds(time.tv_nsec);
}

// Takes exactly `digits` decimal digits from the front of `text`.
bool take_number(std::string_view& text, std::size_t digits, int& value) {
  if (text.size() < digits) return false;
  const char* end = text.data() + digits;
  const auto [stop, ec] = std::from_chars(text.data(), end, value);
  if (ec != std::errc{} || stop != end || text.front() == '-') return false;
  text.remove_prefix(digits);
  return true;
}

bool take(std::string_view& text, char expected) {
  if (text.empty() || text.front() != expected) return false;
  text.remove_prefix(1);
  return true;
}

// ".123456789" -> nanoseconds; digits beyond the ninth are dropped.
bool take_fraction(std::string_view& text, nanoseconds& fraction) {
  fraction = {};
  if (!take(text, '.')) return true;
  std::int64_t unit = 100'000'000;
  std::size_t count = 0;
  while (!text.empty() && is_digit(text.front())) {
    fraction += nanoseconds((text.front() - '0') * unit);
    unit /= 10;
    ++count;
    text.remove_prefix(1);
  }
  return count > 0;
}

bool take_offset(std::string_view& text, seconds& offset) {
  if (take(text, 'Z') || take(text, 'z')) return true;
  const bool west = take(text, '-');
  if (!west && !take(text, '+')) return false;
  int hours = 0;
  int minutes = 0;
  if (!take_number(text, 2, hours) || !take(text, ':') || !take_number(text, 2, minutes)) {
    return false;
  }
  offset = seconds(hours * 3600 + minutes * 60);
  if (west) offset = -offset;
  return hours < 24 && minutes < 60;
}

constexpr std::array<std::pair<std::string_view, double>, 8> units{{{"ns", 1.0},
                                                                    {"us", 1e3},
                                                                    {"\xc2\xb5s", 1e3},
                                                                    {"\xce\xbcs", 1e3},
                                                                    {"ms", 1e6},
                                                                    {"s", 1e9},
                                                                    {"m", 60e9},
                                                                    {"h", 3600e9}}};

// Removes the unit from the front of `text` and returns it in nanoseconds; 0 if there is none.
double take_unit(std::string_view& text) {
  std::size_t length = 0;
  while (length < text.size() && !is_digit(text[length]) && text[length] != '.') ++length;
  for (const auto& [name, size] : units) {
    if (text.substr(0, length) != name) continue;
    text.remove_prefix(length);
    return size;
  }
  return 0;
}

// "1.500000" -> "1.5", "2.000000" -> "2".
std::string trim_zeros(std::string text) {
  while (text.ends_with('0')) text.pop_back();
  if (text.ends_with('.')) text.pop_back();
  return text;
}

std::string fraction_of(std::int64_t value, std::int64_t unit, std::string_view suffix) {
  std::array<char, 48> buffer{};
  int digits = 0;
  for (std::int64_t rest = unit; rest > 1; rest /= 10) ++digits;
  const int length = std::snprintf(buffer.data(), buffer.size(), "%lld.%0*lld",
                                   static_cast<long long>(value / unit), digits == 0 ? 1 : digits,
                                   static_cast<long long>(value % unit));
  return trim_zeros(std::string(buffer.data(), static_cast<std::size_t>(length))) +
         std::string(suffix);
}

}  // namespace

MonoTime SystemClock::mono() const { return MonoTime(read_clock(CLOCK_BOOTTIME)); }

WallTime SystemClock::wall() const { return WallTime(read_clock(CLOCK_REALTIME)); }

std::string format_rfc3339(WallTime time, TimeDigits digits) {
  namespace chrono = std::chrono;
  const auto day = chrono::floor<chrono::days>(time);
  const chrono::year_month_day date(day);
  const chrono::hh_mm_ss clock(time - day);
  std::array<char, 64> buffer{};
  int length = std::snprintf(
      buffer.data(), buffer.size(), "%04d-%02u-%02uT%02d:%02d:%02d", static_cast<int>(date.year()),
      static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
      static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
      static_cast<int>(clock.seconds().count()));
  std::string text(buffer.data(), static_cast<std::size_t>(length));
  if (digits == TimeDigits::micros) {
    const auto micros = chrono::duration_cast<chrono::microseconds>(clock.subseconds()).count();
    length = std::snprintf(buffer.data(), buffer.size(), ".%06d", static_cast<int>(micros));
    text.append(buffer.data(), static_cast<std::size_t>(length));
  }
  return text + "Z";
}

Result<WallTime> parse_rfc3339(std::string_view text) {
  namespace chrono = std::chrono;
  const std::string_view whole = text;
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
  nanoseconds fraction{};
  seconds offset{};
  const bool read = take_number(text, 4, year) && take(text, '-') && take_number(text, 2, month) &&
                    take(text, '-') && take_number(text, 2, day) &&
                    (take(text, 'T') || take(text, 't')) && take_number(text, 2, hour) &&
                    take(text, ':') && take_number(text, 2, minute) && take(text, ':') &&
                    take_number(text, 2, second) && take_fraction(text, fraction) &&
                    take_offset(text, offset) && text.empty();
  const chrono::year_month_day date(chrono::year(year), chrono::month(static_cast<unsigned>(month)),
                                    chrono::day(static_cast<unsigned>(day)));
  // Outside these years, 64-bit nanoseconds overflow.
  const bool in_range = year >= 1678 && year <= 2261;
  if (!read || !date.ok() || !in_range || hour > 23 || minute > 59 || second > 60) {
    return fail(Errc::invalid, "not an RFC 3339 time: \"" + std::string(whole) + "\"");
  }
  return WallTime(chrono::sys_days(date)) + chrono::hours(hour) + chrono::minutes(minute) +
         seconds(second) + fraction - offset;
}

std::string format_duration(Duration duration) {
  // The most negative duration has no positive counterpart.
  std::int64_t left = std::max(duration.count(), -Duration::max().count());
  if (left == 0) return "0s";
  const std::string sign = left < 0 ? "-" : "";
  if (left < 0) left = -left;
  if (left < 1'000) return sign + std::to_string(left) + "ns";
  if (left < 1'000'000) return sign + fraction_of(left, 1'000, "\xc2\xb5s");
  if (left < 1'000'000'000) return sign + fraction_of(left, 1'000'000, "ms");
  constexpr std::int64_t minute = 60'000'000'000;
  std::string text = fraction_of(left % minute, 1'000'000'000, "s");
  if (left >= minute) text = std::to_string(left / minute % 60) + "m" + text;
  if (left >= 60 * minute) text = std::to_string(left / (60 * minute)) + "h" + text;
  return sign + text;
}

Result<Duration> parse_duration(std::string_view text) {
  const std::string_view whole = text;
  const auto bad = [whole] {
    return fail(Errc::invalid, "not a duration: \"" + std::string(whole) + "\"");
  };
  const bool negative = take(text, '-');
  if (!negative) (void)take(text, '+');
  if (text == "0") return Duration(0);
  if (text.empty()) return bad();
  double total = 0;
  while (!text.empty()) {
    double value = 0;
    const auto [stop, ec] =
        std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
    if (ec != std::errc{} || !(is_digit(text.front()) || text.front() == '.')) return bad();
    text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
    const double unit = take_unit(text);
    if (unit == 0) return bad();
    total += value * unit;
  }
  if (total >= 9.2e18) return bad();
  const auto count = static_cast<std::int64_t>(std::llround(total));
  return Duration(negative ? -count : count);
}

}  // namespace holdfast
