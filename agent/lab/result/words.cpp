#include "agent/lab/result/words.h"

#include <array>
#include <cmath>
#include <cstdio>

#include "agent/lab/result/html.h"

namespace holdfast::agent::lab {
namespace {

std::string two_units(std::int64_t count, std::int64_t per, const char* large, const char* small) {
  std::string text = std::to_string(count / per) + large;
  if (count % per != 0) text += std::to_string(count % per) + small;
  return text;
}

}  // namespace

std::string plural(std::size_t count, const std::string& noun) {
  const char* ending = noun.ends_with('s') ? "es" : "s";
  return std::to_string(count) + " " + noun + (count == 1 ? "" : ending);
}

std::string brief(Duration duration) {
  using std::chrono::duration_cast;
  const auto millis = duration_cast<std::chrono::milliseconds>(duration).count();
  if (millis == 0) return "0s";
  if (millis < 0) return "-" + brief(-std::chrono::milliseconds(millis));
  if (millis < 1000) return std::to_string(millis) + "ms";
  const std::int64_t seconds = millis / 1000;
  if (seconds < 60) {
    const std::int64_t tenths = millis / 100 % 10;
    return std::to_string(seconds) + (tenths == 0 ? "" : "." + std::to_string(tenths)) + "s";
  }
  if (seconds < 3600) return two_units(seconds, 60, "m", "s");
  if (seconds < 86400) return two_units(seconds / 60, 60, "h", "m");
  return two_units(seconds / 3600, 24, "d", "h");
}

std::string brief_bytes(std::uint64_t bytes) {
  if (bytes < 1024) return std::to_string(bytes) + " B";
  constexpr std::array units = {" KiB", " MiB", " GiB", " TiB", " PiB", " EiB"};
  double amount = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; amount >= 1023.95 && unit + 1 < units.size(); ++unit) amount /= 1024;
  return decimal(amount) + units.at(unit);
}

std::string counted_bytes(std::uint64_t bytes) { return bytes == 0 ? "-" : brief_bytes(bytes); }

std::string brief_number(double number) {
  const double size = std::abs(number);
  if (size > 0 && size < 0.01) return "<0.01";
  std::array<char, 400> text{};
  (void)std::snprintf(text.data(), text.size(), size >= 100 ? "%.0f" : "%.2f", number);
  std::string shown = text.data();
  if (shown.find('.') == std::string::npos) return shown;
  shown.erase(shown.find_last_not_of('0') + 1);
  if (shown.ends_with('.')) shown.pop_back();
  return shown;
}

std::string clip(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return std::string(text);
  std::size_t end = bytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return std::string(text.substr(0, end)) + "...";
}

}  // namespace holdfast::agent::lab
