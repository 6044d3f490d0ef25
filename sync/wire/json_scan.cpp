#include "sync/wire/json_scan.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

namespace holdfast::sync::wire {
namespace {

constexpr std::uint32_t replacement = 0xfffd;

// A set of bytes. Where every byte of every event is scanned, this is several times faster than
// find_first_of(), which searches the set for each byte.
class Bytes {
 public:
  constexpr explicit Bytes(std::string_view members) {
    for (const char c : members) in_[static_cast<unsigned char>(c)] = true;
  }
  [[nodiscard]] constexpr bool has(char c) const { return in_[static_cast<unsigned char>(c)]; }
  // The position of the first member from `at` on, or the size of `text`.
  [[nodiscard]] std::size_t find(std::string_view text, std::size_t at) const {
    return first(true, text, at);
  }
  // The position of the first non-member from `at` on, or the size of `text`.
  [[nodiscard]] std::size_t skip(std::string_view text, std::size_t at) const {
    return first(false, text, at);
  }

 private:
  // The release preset compiles for size, and text[at] would then be a function call for every
  // byte.
  [[nodiscard]] std::size_t first(bool member, std::string_view text, std::size_t at) const {
    const char* byte = text.data() + std::min(at, text.size());
    const char* const end = text.data() + text.size();
    const bool* const in = in_.data();
    while (byte != end && in[static_cast<unsigned char>(*byte)] != member) ++byte;
    return static_cast<std::size_t>(byte - text.data());
  }

  std::array<bool, 256> in_{};
};

constexpr Bytes blank(" \t\r\n");
constexpr Bytes scalar_end(",]} \t\r\n:{[\"");
constexpr Bytes string_stop("\"\\");
constexpr Bytes nested_stop("\"{}[]");

void append_utf8(std::string& out, std::uint32_t code) {
  const auto tail = [](std::uint32_t bits) { return static_cast<char>(0x80U | (bits & 0x3fU)); };
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0U | code >> 6U);
    out += tail(code);
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0U | code >> 12U);
    out += tail(code >> 6U);
    out += tail(code);
  } else {
    out += static_cast<char>(0xf0U | code >> 18U);
    out += tail(code >> 12U);
    out += tail(code >> 6U);
    out += tail(code);
  }
}

// The first four characters of `raw` as a hexadecimal number.
std::optional<std::uint32_t> hex4(std::string_view raw) {
  if (raw.size() < 4) return std::nullopt;
  std::uint32_t code = 0;
  for (const char c : raw.substr(0, 4)) {
    constexpr std::string_view digits = "0123456789abcdef0123456789ABCDEF";
    const std::size_t digit = digits.find(c);
    if (digit == digits.npos) return std::nullopt;
    code = code << 4U | static_cast<std::uint32_t>(digit & 15U);
  }
  return code;
}

// Removes the digits that follow "\u" (of both halves of a surrogate pair) from the front of `raw`
// and returns the code point.
std::uint32_t take_unicode(std::string_view& raw) {
  const auto high = hex4(raw);
  if (!high) return replacement;
  raw.remove_prefix(4);
  if (*high < 0xd800 || *high > 0xdfff) return *high;
  const auto low = raw.starts_with("\\u") ? hex4(raw.substr(2)) : std::nullopt;
  if (*high > 0xdbff || !low || *low < 0xdc00 || *low > 0xdfff) return replacement;
  raw.remove_prefix(6);
  return 0x10000 + ((*high - 0xd800) << 10U) + (*low - 0xdc00);
}

char simple_escape(char c) {
  switch (c) {
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return c;
  }
}

}  // namespace

std::string unescape_json(std::string_view raw) {
  std::string text;
  text.reserve(raw.size());
  while (!raw.empty()) {
    const std::size_t plain = raw.find('\\');
    text += raw.substr(0, plain);
    if (plain == raw.npos || plain + 1 >= raw.size()) break;
    const char kind = raw[plain + 1];
    raw.remove_prefix(plain + 2);
    if (kind == 'u') {
      append_utf8(text, take_unicode(raw));
    } else {
      text += simple_escape(kind);
    }
  }
  return text;
}

Error JsonCursor::error() const {
  return {Errc::invalid, "JSON at byte " + std::to_string(at_) + ": " + problem_};
}

void JsonCursor::fail_here(const char* problem) {
  if (problem_ == nullptr) problem_ = problem;
}

char JsonCursor::peek() {
  const std::size_t next = blank.skip(bytes_, at_);
  if (!ok() || next >= bytes_.size()) return '\0';
  at_ = next;
  return bytes_[at_];
}

bool JsonCursor::accept(char c) {
  if (peek() != c) return false;
  ++at_;
  return true;
}

bool JsonCursor::expect(char c, const char* problem) {
  if (accept(c)) return true;
  fail_here(problem);
  return false;
}

std::string_view JsonCursor::skip() {
  const char first = peek();
  if (!ok()) return {};
  const std::size_t start = at_;
  if (first == '"') {
    skip_string();
  } else if (first == '{' || first == '[') {
    skip_nested();
  } else {
    at_ = scalar_end.find(bytes_, at_);
    if (at_ == start) fail_here("expected a value");
  }
  return ok() ? bytes_.substr(start, at_ - start) : std::string_view();
}

// The cursor is at an opening quote.
void JsonCursor::skip_string() {
  std::size_t at = at_ + 1;
  for (;;) {
    at = string_stop.find(bytes_, at);
    if (at >= bytes_.size()) return fail_here("string without end");
    if (bytes_[at] == '"') break;
    at += 2;
  }
  at_ = at + 1;
}

// The cursor is at an opening bracket.
void JsonCursor::skip_nested() {
  std::string closers;  // the expected closing brackets, innermost last
  do {
    at_ = nested_stop.find(bytes_, at_);
    if (at_ >= bytes_.size()) return fail_here("object or array without end");
    const char c = bytes_[at_];
    if (c == '"') {
      skip_string();
      if (!ok()) return;
      continue;
    }
    if (c == '{' || c == '[') {
      if (closers.size() == depth_max_) return fail_here("too deep");
      closers += c == '{' ? '}' : ']';
    } else {
      if (closers.back() != c) return fail_here("brackets do not match");
      closers.pop_back();
    }
    ++at_;
  } while (!closers.empty());
}

bool JsonCursor::text(std::string& out) {
  if (null()) return true;
  if (peek() != '"') {
    fail_here("expected a string");
    return false;
  }
  const std::string_view quoted = skip();
  if (!ok()) return false;
  const std::string_view raw = quoted.substr(1, quoted.size() - 2);
  if (raw.find('\\') == raw.npos) {
    out = raw;
  } else {
    out = unescape_json(raw);
  }
  return true;
}

bool JsonCursor::null() {
  if (peek() != 'n' || bytes_.substr(at_, 4) != "null") return false;
  at_ += 4;
  return true;
}

bool JsonCursor::end() {
  // peek() returns '\0' at the end, but also for a zero byte.
  if (ok() && (peek() != '\0' || blank.skip(bytes_, at_) < bytes_.size())) {
    fail_here("more after the end");
  }
  return ok();
}

JsonFields::JsonFields(JsonCursor& in)
    : in_(in), open_(!in.null() && in.expect('{', "expected an object")) {}

bool JsonFields::next() {
  if (!open_ || !in_.ok()) return false;
  if (in_.accept('}')) return open_ = false;
  if (!first_ && !in_.expect(',', "expected ',' or '}'")) return false;
  first_ = false;
  if (in_.peek() != '"') in_.fail_here("expected a key");
  key_offset_ = in_.offset();
  const std::string_view quoted = in_.skip();
  if (!in_.expect(':', "expected ':'")) return false;
  key_ = quoted.substr(1, quoted.size() - 2);
  if (key_.find('\\') != key_.npos) {
    decoded_ = unescape_json(key_);
    key_ = decoded_;
  }
  return true;
}

JsonItems::JsonItems(JsonCursor& in)
    : in_(in), open_(!in.null() && in.expect('[', "expected an array")) {}

bool JsonItems::next() {
  if (!open_ || !in_.ok()) return false;
  if (in_.accept(']')) return open_ = false;
  if (!first_ && !in_.expect(',', "expected ',' or ']'")) return false;
  first_ = false;
  return true;
}

}  // namespace holdfast::sync::wire
