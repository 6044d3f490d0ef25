#include "sync/printing/age.h"

#include <boost/json.hpp>

namespace holdfast::sync::printing {
namespace {

std::string pair(std::int64_t big, char big_unit, std::int64_t small, char small_unit) {
  std::string text = std::to_string(big) + big_unit;
  if (small != 0) text += std::to_string(small) + small_unit;
  return text;
}

}  // namespace

std::string human_duration(Duration duration) {
  const std::int64_t seconds = std::chrono::duration_cast<std::chrono::seconds>(duration).count();
  const std::int64_t minutes = seconds / 60;
  const std::int64_t hours = minutes / 60;
  const std::int64_t days = hours / 24;
  const std::int64_t years = days / 365;
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 120) return std::to_string(seconds) + "s";
  if (minutes < 10) return pair(minutes, 'm', seconds % 60, 's');
  if (minutes < 180) return std::to_string(minutes) + "m";
  if (hours < 8) return pair(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return std::to_string(hours) + "h";
  if (days < 8) return pair(days, 'd', hours % 24, 'h');
  if (years < 2) return std::to_string(days) + "d";
  if (years < 8) return pair(years, 'y', days % 365, 'd');
  return std::to_string(years) + "y";
}

Duration time_since(WallTime then, WallTime now) {
  constexpr Duration most = std::chrono::hours(100 * 365 * 24);
  if (then < now - most) return most;
  if (then > now + most) return -most;
  return now - then;
}

std::string age_of(const boost::json::value* time, WallTime now) {
  if (time == nullptr || !time->is_string()) return "<unknown>";
  const auto then = parse_rfc3339(time->get_string());
  if (!then) return "<unknown>";
  return human_duration(time_since(*then, now));
}

}  // namespace holdfast::sync::printing
