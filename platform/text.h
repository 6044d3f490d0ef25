// Small text functions that the standard library lacks. They work on bytes, not on Unicode
// characters, and ignore the locale.

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

// "a,b,,c" -> {"a","b","","c"}. Returns at least one part. The views borrow from `text`.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);

// `text` without leading and trailing spaces, tabs and line ends.
[[nodiscard]] std::string_view trim(std::string_view text);

[[nodiscard]] std::string join(const std::vector<std::string>& parts, std::string_view separator);

// A table for people: each column is as wide as its widest cell, and two blanks separate columns.
using TableRow = std::vector<std::string>;
[[nodiscard]] std::string format_table(const std::vector<TableRow>& rows);

[[nodiscard]] std::string to_lower(std::string_view text);

// Compares ASCII letters without regard to case, as HTTP header names are compared.
[[nodiscard]] bool equals_ignoring_case(std::string_view left, std::string_view right);

// Parses a decimal integer in the range of T. A signed T may have a leading '-', but no '+'.
// Returns nothing for any other text.
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
// The number in lower-case hexadecimal without leading zeros: "0", "1f".
[[nodiscard]] std::string to_hex(std::uint64_t number);

// Percent-encodes everything but RFC 3986's unreserved characters.
[[nodiscard]] std::string percent_encode(std::string_view text);

// Decodes percent escapes. With `plus_is_space`, '+' becomes a space, as in query strings. Errors:
// invalid (a malformed escape).
[[nodiscard]] Result<std::string> percent_decode(std::string_view text, bool plus_is_space);

}  // namespace holdfast
