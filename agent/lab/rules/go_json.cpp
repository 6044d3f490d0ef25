#include "agent/lab/rules/go_json.h"

#include <vector>

#include "platform/text.h"
#include "sync/wire/quote.h"

namespace holdfast::agent::lab {
namespace {

constexpr std::string_view ended = "unexpected end of JSON input";

// A quoted character as Go prints it: a byte is treated as the code point with the same number.
std::string character(char c) {
  if (c == '\'') return R"('\'')";
  if (c == '"') return R"('"')";
  const auto byte = static_cast<unsigned char>(c);
  std::string rune;
  if (byte < 0x80) {
    rune = c;
  } else {
    rune = {static_cast<char>(0xC0 | (byte >> 6)), static_cast<char>(0x80 | (byte & 0x3F))};
  }
  std::string text = sync::wire::quoted(rune);
  text.front() = '\'';
  text.back() = '\'';
  return text;
}

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::string run() {
    skip_space();
    if (!value()) return problem_;
    skip_space();
    if (at_ < text_.size()) wrong("after top-level value");
    return problem_;
  }

 private:
  bool wrong(std::string_view where) {
    problem_ = at_ >= text_.size()
                   ? std::string(ended)
                   : "invalid character " + character(text_[at_]) + " " + std::string(where);
    return false;
  }

  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void skip_space() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != text_.npos) ++at_;
  }

  bool value() {
    if (at_ >= text_.size()) return wrong("");
    const char c = peek();
    if (c == '{') return object();
    if (c == '[') return array();
    if (c == '"') return string();
    if (c == '-' || is_digit(c)) return number();
    for (const std::string_view word : {"true", "false", "null"}) {
      if (c == word.front()) return literal(word);
    }
    return wrong("looking for beginning of value");
  }

  bool object() {
    if (++depth_ > 10000) return wrong("exceeded max depth");
    ++at_;
    skip_space();
    if (peek() == '}') return close();
    for (;;) {
      skip_space();
      if (peek() != '"') return wrong("looking for beginning of object key string");
      if (!string()) return false;
      skip_space();
      if (peek() != ':') return wrong("after object key");
      ++at_;
      skip_space();
      if (!value()) return false;
      skip_space();
      if (peek() == '}') return close();
      if (peek() != ',') return wrong("after object key:value pair");
      ++at_;
    }
  }

  bool array() {
    if (++depth_ > 10000) return wrong("exceeded max depth");
    ++at_;
    skip_space();
    if (peek() == ']') return close();
    for (;;) {
      skip_space();
      if (!value()) return false;
      skip_space();
      if (peek() == ']') return close();
      if (peek() != ',') return wrong("after array element");
      ++at_;
    }
  }

  bool close() {
    ++at_;
    --depth_;
    return true;
  }

  bool string() {
    for (++at_; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '"') {
        ++at_;
        return true;
      }
      if (static_cast<unsigned char>(c) < 0x20) return wrong("in string literal");
      if (c == '\\' && !escape()) return false;
    }
    return wrong("");
  }

  bool escape() {
    ++at_;
    if (peek() == 'u') {
      for (int digit = 0; digit < 4; ++digit) {
        ++at_;
        const char c = peek();
        const bool hex = is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
        if (!hex) return wrong("in \\u hexadecimal character escape");
      }
      return true;
    }
    if (std::string_view("bfnrt\\/\"").find(peek()) == std::string_view::npos || peek() == '\0') {
      return wrong("in string escape code");
    }
    return true;
  }

  bool digits(std::string_view where) {
    if (!is_digit(peek())) return wrong(where);
    while (is_digit(peek())) ++at_;
    return true;
  }

  bool number() {
    if (peek() == '-') ++at_;
    if (peek() == '0') {
      ++at_;
    } else if (!digits("in numeric literal")) {
      return false;
    }
    if (peek() == '.') {
      ++at_;
      if (!digits("after decimal point in numeric literal")) return false;
    }
    if (peek() == 'e' || peek() == 'E') {
      ++at_;
      if (peek() == '+' || peek() == '-') ++at_;
      if (!digits("in exponent of numeric literal")) return false;
    }
    return true;
  }

  bool literal(std::string_view word) {
    for (const char c : word) {
      if (peek() != c) {
        return wrong("in literal " + std::string(word) + " (expecting " + character(c) + ")");
      }
      ++at_;
    }
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::string problem_;
};

}  // namespace

std::string go_json_error(std::string_view text) { return Scanner(text).run(); }

}  // namespace holdfast::agent::lab
