#include "agent/lab/scenario/units.h"

#include <charconv>
#include <cmath>
#include <optional>
#include <span>
#include <utility>

#include "agent/lab/scenario/problems.h"

namespace holdfast::agent::lab {
namespace {

using Unit = std::pair<std::string_view, double>;

constexpr Unit rate_units[] = {{"bit/s", 0.125},  {"kbit/s", 125.0}, {"Mbit/s", 125e3},
                               {"Gbit/s", 125e6}, {"B/s", 1.0},      {"kB/s", 1e3},
                               {"MB/s", 1e6},     {"KiB/s", 1024.0}, {"MiB/s", 1048576.0}};
constexpr Unit size_units[] = {{"", 1.0},          {"B", 1.0},           {"kB", 1e3},
                               {"MB", 1e6},        {"GB", 1e9},          {"KiB", 1024.0},
                               {"MiB", 1048576.0}, {"GiB", 1073741824.0}};
constexpr double rate_max = 1e12;
constexpr double size_max = 1e15;

// Removes a number that is not negative from the front of `text`.
std::optional<double> take_number(std::string_view& text) {
  double value = 0;
  const auto [stop, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (ec != std::errc{} || !std::isfinite(value) || std::signbit(value)) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  return value;
}

// The amount in `text`, or nothing.
std::optional<double> read_amount(std::string_view text, std::span<const Unit> units) {
  const auto value = take_number(text);
  if (!value) return std::nullopt;
  if (text.starts_with(' ')) text.remove_prefix(1);
  for (const auto& [name, size] : units) {
    if (name == text) return *value * size;
  }
  return std::nullopt;
}

}  // namespace

Result<std::int64_t> parse_link_rate(std::string_view text) {
  const auto rate = read_amount(text, rate_units);
  if (!rate) return fail(Errc::invalid, "not a rate like 2Mbit/s or 64KiB/s: " + quoted_text(text));
  if (*rate < 1 || *rate > rate_max) {
    return fail(Errc::invalid, "must lie between 8bit/s and 8000Gbit/s: " + quoted_text(text));
  }
  return static_cast<std::int64_t>(*rate);
}

Result<std::int64_t> parse_byte_size(std::string_view text) {
  const auto size = read_amount(text, size_units);
  if (!size || *size > size_max) {
    return fail(Errc::invalid, "not a size like 512KiB or 5MB: " + quoted_text(text));
  }
  return static_cast<std::int64_t>(*size);
}

Result<double> parse_number(std::string_view text) {
  const bool negative = text.starts_with('-');
  std::string_view rest = negative ? text.substr(1) : text;
  const auto value = take_number(rest);
  if (!value || !rest.empty()) return fail(Errc::invalid, "not a number: " + quoted_text(text));
  return negative ? -*value : *value;
}

Result<double> parse_fraction(std::string_view text) {
  std::string_view rest = text;
  const auto value = take_number(rest);
  if (value && rest.empty()) return *value;
  if (value && rest == "%") return *value / 100;
  return fail(Errc::invalid, "not a fraction like 0.02 or 2%: " + quoted_text(text));
}

}  // namespace holdfast::agent::lab
