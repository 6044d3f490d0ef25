#include "sync/wire/quote.h"

#include "sync/wire/utf8.h"

namespace holdfast::sync::wire {
namespace {

// Go's escape letter for a character, or '\0'.
char short_escape(char c) {
  switch (c) {
    case '\a':
      return 'a';
    case '\b':
      return 'b';
    case '\f':
      return 'f';
    case '\n':
      return 'n';
    case '\r':
      return 'r';
    case '\t':
      return 't';
    case '\v':
      return 'v';
    case '"':
      return '"';
    case '\\':
      return '\\';
    default:
      return '\0';
  }
}

void append_hex(std::string& out, unsigned char byte) {
  constexpr std::string_view digits = "0123456789abcdef";
  out += "\\x";
  out += digits[byte >> 4U];
  out += digits[byte & 15U];
}

}  // namespace

std::string quoted(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const char c = text[0];
    const auto byte = static_cast<unsigned char>(c);
    const std::size_t length = utf8_length(text);
    if (const char letter = short_escape(c); letter != '\0') {
      out += '\\';
      out += letter;
    } else if (length == 0 || byte < 0x20 || byte == 0x7f) {
      append_hex(out, byte);
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out += '"';
}

}  // namespace holdfast::sync::wire
