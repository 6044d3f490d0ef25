#include "platform/http/date.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "platform/text.h"

namespace holdfast::http {
namespace {

constexpr std::array<std::string_view, 7> days = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
constexpr std::array<std::string_view, 12> months = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr std::size_t length = 29;

}  // namespace

std::string format_date(WallTime time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(std::chrono::floor<std::chrono::seconds>(time - day));
  std::array<char, 64> text{};
  const auto weekday = std::chrono::weekday(day).c_encoding();
  const unsigned month = static_cast<unsigned>(date.month());
  (void)std::snprintf(
      text.data(), text.size(), "%s, %02u %s %04d %02d:%02d:%02d GMT", days[weekday].data(),
      static_cast<unsigned>(date.day()), months[month - 1].data(), static_cast<int>(date.year()),
      static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
      static_cast<int>(clock.seconds().count()));
  return text.data();
}

Result<WallTime> parse_date(std::string_view text) {
  const auto bad = [text] {
    return fail(Errc::invalid, "no date: \"" + std::string(text.substr(0, 40)) + "\"");
  };
  if (text.size() != length) return bad();
  const auto month = std::find(months.begin(), months.end(), text.substr(8, 3));
  const auto day = parse_int<unsigned>(text.substr(5, 2));
  const auto year = parse_int<int>(text.substr(12, 4));
  if (month == months.end() || !day || !year) return bad();
  const std::chrono::year_month_day date(
      std::chrono::year(*year),
      std::chrono::month(static_cast<unsigned>(month - months.begin()) + 1),
      std::chrono::day(*day));
  const std::string iso =
      std::string(text.substr(12, 4)) + "-" + (date.month() < std::chrono::October ? "0" : "") +
      std::to_string(static_cast<unsigned>(date.month())) + "-" + std::string(text.substr(5, 2)) +
      "T" + std::string(text.substr(17, 8)) + "Z";
  const auto time = parse_rfc3339(iso);
  // Formatting the result again must give the same text; this checks the fixed characters, the
  // weekday and the zone.
  if (!time || format_date(*time) != text) return bad();
  return *time;
}

}  // namespace holdfast::http
