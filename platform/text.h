// Small text tools that the standard library lacks. Bytes, not Unicode; no locale.

#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/result.h"

namespace holdfast {

[[nodiscard]] constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
[[nodiscard]] constexpr bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
[[nodiscard]] constexpr bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
[[nodiscard]] constexpr bool is_alnum(char c) { return is_digit(c) || is_lower(c) || is_upper(c); }

// "a,b,,c" -> {"a","b","","c"}. Always at least one part. The views borrow from `text`.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);

// Without leading and trailing spaces, tabs and line ends.
[[nodiscard]] std::string_view trim(std::string_view text);

[[nodiscard]] std::string join(const std::vector<std::string>& parts, std::string_view separator);

[[nodiscard]] std::string to_lower(std::string_view text);

// ASCII only, as HTTP header names compare.
[[nodiscard]] bool equals_ignoring_case(std::string_view left, std::string_view right);

// A whole decimal integer in the range of T, with an optional sign; nothing when anything else.
template <std::integral T>
[[nodiscard]] std::optional<T> parse_int(std::string_view text) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [stop, ec] = std::from_chars(text.data(), end, value);
  if (ec != std::errc{} || stop != end || text.empty()) return std::nullopt;
  return value;
}

// RFC 4648 base64 with padding. Errors of decode: invalid.
[[nodiscard]] std::string base64_encode(std::string_view bytes);
[[nodiscard]] Result<std::string> base64_decode(std::string_view text);

[[nodiscard]] std::string hex_encode(std::string_view bytes);
// The number in lower-case hexadecimal digits without leading zeros: "0", "1f".
[[nodiscard]] std::string to_hex(std::uint64_t number);

// Percent-encodes everything but RFC 3986's unreserved characters.
[[nodiscard]] std::string percent_encode(std::string_view text);

// Errors: invalid on a broken escape. `plus_is_space` as in query strings.
[[nodiscard]] Result<std::string> percent_decode(std::string_view text, bool plus_is_space);

}  // namespace holdfast
