#include "platform/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

namespace holdfast {
namespace {

constexpr std::string_view hex_digits = "0123456789abcdef";
constexpr std::string_view hex_digits_upper = "0123456789ABCDEF";

char lower(char c) { return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c; }

int hex_value(char c) {
  const std::size_t at = hex_digits.find(lower(c));
  return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

}  // namespace

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view blank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(blank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string joined;
  for (const std::string& part : parts) {
    if (&part != &parts.front()) joined += separator;
    joined += part;
  }
  return joined;
}

std::string format_table(const std::vector<TableRow>& rows) {
  std::vector<std::size_t> widths;
  for (const TableRow& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const TableRow& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      text += row[i];
      if (i + 1 < row.size()) text.append(widths[i] - row[i].size() + 2, ' ');
    }
    text += '\n';
  }
  return text;
}

std::string to_lower(std::string_view text) {
  std::string lowered(text);
  std::transform(lowered.begin(), lowered.end(), lowered.begin(), lower);
  return lowered;
}

bool equals_ignoring_case(std::string_view left, std::string_view right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](char a, char b) { return lower(a) == lower(b); });
}

std::string hex_encode(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += hex_digits[byte >> 4U];
    text += hex_digits[byte & 15U];
  }
  return text;
}

std::string percent_encode(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    if (is_alnum(c) || c == '-' || c == '.' || c == '_' || c == '~') {
      encoded += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    encoded += '%';
    encoded += hex_digits_upper[byte >> 4U];
    encoded += hex_digits_upper[byte & 15U];
  }
  return encoded;
}

std::string to_hex(std::uint64_t number) {
  std::array<char, 16> digits{};
  const auto [end, ec] = std::to_chars(digits.begin(), digits.end(), number, 16);
  return {digits.begin(), end};
}

Result<std::string> percent_decode(std::string_view text, bool plus_is_space) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (plus_is_space && text[at] == '+') {
      decoded += ' ';
      continue;
    }
    if (text[at] != '%') {
      decoded += text[at];
      continue;
    }
    const bool whole = text.size() - at > 2;
    const int high = whole ? hex_value(text[at + 1]) : -1;
    const int low = whole ? hex_value(text[at + 2]) : -1;
    if (high < 0 || low < 0) {
      return fail(Errc::invalid, "invalid URL escape \"" + std::string(text.substr(at, 3)) + "\"");
    }
    decoded += static_cast<char>(high * 16 + low);
    at += 2;
  }
  return decoded;
}

}  // namespace holdfast
