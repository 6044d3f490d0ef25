#include "sync/wire/utf8.h"

#include <algorithm>

namespace holdfast::sync::wire {
namespace {

struct Lead {
  unsigned char from;
  unsigned char to;
  unsigned char second_from;  // the allowed range of the second byte
  unsigned char second_to;
  unsigned char length;
};

// From table 3-7 of the Unicode standard.
constexpr Lead leads[] = {
    {0x00, 0x7f, 0x00, 0x00, 1}, {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
    {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
    {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
};

bool is_ascii(char c) { return static_cast<unsigned char>(c) < 0x80; }

}  // namespace

std::size_t utf8_length(std::string_view text) {
  const auto byte = [text](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  for (const Lead& lead : leads) {
    if (byte(0) < lead.from || byte(0) > lead.to) continue;
    if (text.size() < lead.length) return 0;
    if (lead.length == 1) return 1;
    if (byte(1) < lead.second_from || byte(1) > lead.second_to) return 0;
    for (std::size_t at = 2; at < lead.length; ++at) {
      if (byte(at) < 0x80 || byte(at) > 0xbf) return 0;
    }
    return lead.length;
  }
  return 0;
}

bool is_utf8(std::string_view text) {
  const auto* const odd = std::find_if_not(text.begin(), text.end(), is_ascii);
  text.remove_prefix(static_cast<std::size_t>(odd - text.begin()));
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace holdfast::sync::wire
