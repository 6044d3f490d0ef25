#include "platform/terminal.h"

#include <array>
#include <cstdint>
#include <cstdio>

namespace holdfast {
namespace {

// The first character of a text. If it is not valid UTF-8, `bytes` is 1 and `valid` is false.
struct Decoded {
  std::uint32_t point = 0;
  std::size_t bytes = 1;
  bool valid = false;
};

std::size_t sequence_length(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first < 0xe0) return 2;
  if (first >= 0xe0 && first < 0xf0) return 3;
  if (first >= 0xf0 && first < 0xf5) return 4;
  return 0;
}

Decoded decode(std::string_view text) {
  constexpr std::array<std::uint32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
  const auto first = static_cast<unsigned char>(text.front());
  const std::size_t length = sequence_length(first);
  if (length == 0 || length > text.size()) return {first};
  std::uint32_t point = length == 1 ? first : first & (0xffU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xc0U) != 0x80U) return {first};
    point = point << 6U | (next & 0x3fU);
  }
  const bool surrogate = point >= 0xd800 && point < 0xe000;
  if (point < least[length] || point > 0x10ffff || surrogate) return {first};
  return {point, length, true};
}

bool is_dangerous(std::uint32_t point) {
  struct Range {
    std::uint32_t first;
    std::uint32_t last;
  };
  constexpr Range ranges[] = {
      {0x00, 0x1f},       {0x7f, 0x9f},      // control characters
      {0xad, 0xad},                          // soft hyphen
      {0x61c, 0x61c},                        // direction mark
      {0x180e, 0x180e},                      // invisible
      {0x200b, 0x200f},                      // invisible, direction marks
      {0x2028, 0x202e},                      // line separators, overrides of direction
      {0x2060, 0x206f},                      // invisible, isolates of direction
      {0xfeff, 0xfeff},   {0xfff9, 0xfffb},  // invisible, annotations
      {0xe0000, 0xe0fff},                    // tags and other invisible ones
  };
  for (const Range& range : ranges) {
    if (point >= range.first && point <= range.last) return true;
  }
  return false;
}

std::string formatted(const char* format, std::uint32_t number) {
  std::array<char, 16> text{};
  (void)std::snprintf(text.data(), text.size(), format, number);
  return text.data();
}

std::string escaped(const Decoded& one) {
  if (one.point == '\n') return "\\n";
  if (one.point == '\t') return "\\t";
  if (one.point == '\r') return "\\r";
  if (!one.valid || one.point < 0x80) return formatted("\\x%02x", one.point);
  return formatted(one.point > 0xffff ? "\\U%08x" : "\\u%04x", one.point);
}

std::string escaped_in_json(const Decoded& one) {
  if (!one.valid) return "\\ufffd";
  if (one.point <= 0xffff) return formatted("\\u%04x", one.point);
  const std::uint32_t rest = one.point - 0x10000;
  return formatted("\\u%04x", 0xd800 + (rest >> 10U)) +
         formatted("\\u%04x", 0xdc00 + (rest & 0x3ffU));
}

template <class Keep, class Escape>
std::string replace_dangerous(std::string_view text, Keep keep, Escape escape) {
  std::string safe;
  safe.reserve(text.size());
  while (!text.empty()) {
    const Decoded one = decode(text);
    const bool good = one.valid && (!is_dangerous(one.point) || keep(one.point));
    safe += good ? std::string(text.substr(0, one.bytes)) : escape(one);
    text.remove_prefix(one.bytes);
  }
  return safe;
}

}  // namespace

std::string escape_for_terminal(std::string_view text, LineEnds line_ends) {
  const auto keep = [line_ends](std::uint32_t point) {
    return point == '\n' && line_ends == LineEnds::kept;
  };
  return replace_dangerous(text, keep, escaped);
}

std::string escape_json_for_terminal(std::string_view document) {
  const auto keep = [](std::uint32_t point) { return point == '\n' || point == '\t'; };
  return replace_dangerous(document, keep, escaped_in_json);
}

}  // namespace holdfast
