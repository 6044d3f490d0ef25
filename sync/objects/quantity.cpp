#include "sync/objects/quantity.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "platform/text.h"

namespace holdfast::sync::objects {
namespace {

constexpr Int128 giga = 1'000'000'000;  // nanos in a unit
constexpr Int128 units_max = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t text_max = 256;
constexpr std::size_t digits_max = 64;  // more integer digits saturate; more fraction digits round

constexpr std::string_view wrong_format =
    "quantities must match the regular expression "
    "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
constexpr std::string_view wrong_number = "unable to parse numeric part of quantity";
constexpr std::string_view wrong_suffix = "unable to parse quantity's suffix";

// The parts of a quantity's text.
struct QuantityParts {
  bool negative = false;
  std::string whole;     // digits without leading zeros
  std::string fraction;  // digits
  bool has_digits = false;
  std::string_view suffix;
};

std::string_view take_digits(std::string_view& text) {
  const auto end = std::find_if_not(text.begin(), text.end(), is_digit);
  const auto count = static_cast<std::size_t>(end - text.begin());
  const std::string_view digits = text.substr(0, count);
  text.remove_prefix(count);
  return digits;
}

// Returns nothing if the text does not have the form of a quantity.
std::optional<QuantityParts> split_quantity(std::string_view text) {
  QuantityParts parts;
  if (text.empty() || text.size() > text_max) return std::nullopt;
  if (text.front() == '-' || text.front() == '+') {
    parts.negative = text.front() == '-';
    text.remove_prefix(1);
  }
  const std::string_view whole = take_digits(text);
  parts.whole = whole.substr(std::min(whole.find_first_not_of('0'), whole.size()));
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    parts.fraction = take_digits(text);
  }
  parts.has_digits = !whole.empty() || !parts.fraction.empty();
  parts.suffix = text;
  const std::size_t letters = text.find_first_not_of("eEinumkKMGTP");
  text.remove_prefix(std::min(letters, text.size()));
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) text.remove_prefix(1);
  take_digits(text);
  if (!text.empty()) return std::nullopt;
  return parts;
}

struct Suffix {
  std::string_view text;
  int power;  // of 10, or of 2
};
constexpr std::array decimals = {
    Suffix{"n", -9}, Suffix{"u", -6}, Suffix{"m", -3}, Suffix{"", 0},   Suffix{"k", 3},
    Suffix{"M", 6},  Suffix{"G", 9},  Suffix{"T", 12}, Suffix{"P", 15}, Suffix{"E", 18},
};
constexpr std::array binaries = {
    Suffix{"Ki", 10}, Suffix{"Mi", 20}, Suffix{"Gi", 30},
    Suffix{"Ti", 40}, Suffix{"Pi", 50}, Suffix{"Ei", 60},
};

template <std::size_t size>
std::optional<int> power_of(const std::array<Suffix, size>& suffixes, std::string_view text) {
  for (const Suffix& suffix : suffixes) {
    if (suffix.text == text) return suffix.power;
  }
  return std::nullopt;
}

// Moves the decimal point of whole.fraction by `power` places to the right.
void shift(QuantityParts& parts, int power) {
  for (; power > 0 && parts.whole.size() < digits_max; --power) {
    const bool empty = parts.fraction.empty();
    const char digit = empty ? '0' : parts.fraction.front();
    if (!empty) parts.fraction.erase(0, 1);
    if (!parts.whole.empty() || digit != '0') parts.whole += digit;
    if (parts.whole.empty() && parts.fraction.empty()) return;  // zero
  }
  for (; power < 0 && parts.fraction.size() < parts.whole.size() + digits_max; ++power) {
    const char digit = parts.whole.empty() ? '0' : parts.whole.back();
    if (!parts.whole.empty()) parts.whole.pop_back();
    parts.fraction.insert(parts.fraction.begin(), digit);
  }
}

// whole.fraction times `scale`, rounded away from zero; nothing if there are too many digits.
std::optional<Int128> times(const QuantityParts& parts, Int128 scale) {
  Int128 whole = 0;
  for (const char digit : parts.whole) {
    whole = whole * 10 + (digit - '0');
    if (whole > units_max) return std::nullopt;
  }
  if (whole > units_max * giga / scale) return std::nullopt;
  Int128 behind = 0;
  bool inexact = false;
  for (auto digit = parts.fraction.rbegin(); digit != parts.fraction.rend(); ++digit) {
    const Int128 sum = behind + (*digit - '0') * scale;
    inexact = inexact || sum % 10 != 0;
    behind = sum / 10;
  }
  return whole * scale + behind + (inexact ? 1 : 0);
}

std::int64_t divided(Int128 nanos, Int128 by) {
  const Int128 quotient = nanos / by;
  const Int128 rest = nanos % by;
  const Int128 rounded = quotient + (rest > 0 ? 1 : rest < 0 ? -1 : 0);
  return static_cast<std::int64_t>(std::clamp(rounded, -units_max, units_max));
}

std::string printed(Int128 number) {
  const bool negative = number < 0;
  std::string digits;
  do {
    const int digit = static_cast<int>(number % 10);
    digits += static_cast<char>('0' + (digit < 0 ? -digit : digit));
    number /= 10;
  } while (number != 0);
  if (negative) digits += '-';
  std::reverse(digits.begin(), digits.end());
  return digits;
}

}  // namespace

Quantity::Quantity(Int128 nanos, Format format)
    : nanos_(std::clamp(nanos, -units_max * giga, units_max * giga)), format_(format) {}

Quantity Quantity::units(std::int64_t count) { return {count * giga, Format::decimal}; }

Quantity Quantity::millis(std::int64_t count) {
  return {static_cast<Int128>(count) * 1'000'000, Format::decimal};
}

Quantity Quantity::bytes(std::int64_t count) { return {count * giga, Format::binary}; }

Result<Quantity> Quantity::parse(std::string_view text) {
  auto parts = split_quantity(text);
  if (!parts) return fail(Errc::invalid, std::string(wrong_format));
  Format format = Format::decimal;
  Int128 scale = giga;
  if (const auto power = power_of(decimals, parts->suffix)) {
    shift(*parts, *power);
  } else if (const auto two = power_of(binaries, parts->suffix)) {
    format = Format::binary;
    scale = giga << *two;
  } else {
    const std::string_view suffix = parts->suffix;
    const bool exponent = suffix.size() > 1 && (suffix[0] == 'e' || suffix[0] == 'E');
    const auto digits = exponent ? suffix.substr(suffix[1] == '+' ? 2 : 1) : std::string_view();
    const auto ten = parse_int<int>(digits);
    if (!ten) return fail(Errc::invalid, std::string(wrong_suffix));
    format = Format::exponent;
    shift(*parts, *ten);
  }
  if (!parts->has_digits) return fail(Errc::invalid, std::string(wrong_number));
  const Int128 amount = times(*parts, scale).value_or(units_max * giga);
  return Quantity(parts->negative ? -amount : amount, format);
}

std::int64_t Quantity::value() const { return divided(nanos_, giga); }

std::int64_t Quantity::milli_value() const { return divided(nanos_, 1'000'000); }

std::string Quantity::text() const {
  const bool small = nanos_ > -1024 * giga && nanos_ < 1024 * giga;
  if (format_ != Format::binary || small || nanos_ % giga != 0) return decimal_text();
  Int128 number = nanos_ / giga;
  std::size_t step = 0;
  for (; number % 1024 == 0 && step < binaries.size(); ++step) number /= 1024;
  return printed(number).append(step == 0 ? "" : binaries[step - 1].text);
}

std::string Quantity::decimal_text() const {
  if (nanos_ == 0) return "0";
  Int128 number = nanos_;
  std::size_t step = 0;
  for (; number % 1000 == 0 && step + 1 < decimals.size(); ++step) number /= 1000;
  const int power = decimals[step].power;
  if (format_ != Format::exponent) return printed(number).append(decimals[step].text);
  return power == 0 ? printed(number) : printed(number) + "e" + std::to_string(power);
}

Quantity& Quantity::operator+=(const Quantity& other) {
  return *this = Quantity(nanos_ + other.nanos_, format_);
}

Quantity& Quantity::operator-=(const Quantity& other) {
  return *this = Quantity(nanos_ - other.nanos_, format_);
}

}  // namespace holdfast::sync::objects
