#include "sync/wire/json.h"

#include <array>
#include <boost/json/parser.hpp>
#include <charconv>
#include <cmath>

namespace holdfast::sync::wire {
namespace {

constexpr std::string_view hex_digits = "0123456789abcdef";

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\r\n") == text.npos; }

// Whether `text` may have more than `most` values. Every value but the first of a container follows
// a comma; the content of strings does not count.
bool has_more_values(std::string_view text, std::size_t most) {
  if (text.size() / 2 < most) return false;
  std::size_t values = 1;
  bool quoted = false;
  for (std::size_t at = 0; at < text.size() && values <= most; ++at) {
    const char c = text[at];
    if (quoted) {
      if (c == '\\') ++at;
      quoted = c != '"';
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',' || c == '[' || c == '{') {
      ++values;
    }
  }
  return values > most;
}

Error parse_error(std::size_t offset, const boost::system::error_code& ec) {
  const bool too_deep = ec == json::error::too_deep;
  return Error{too_deep ? Errc::exhausted : Errc::invalid,
               "JSON at byte " + std::to_string(offset) + ": " + ec.message()};
}

void print_integer(std::string& out, auto number) {
  std::array<char, 24> digits{};
  const auto done = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  out.append(digits.data(), done.ptr);
}

// As Go prints it: plain digits, and an exponent ("1e-7", "1e+21") only for very small and large
// numbers.
void print_double(std::string& out, double number) {
  if (!std::isfinite(number)) {  // 1e999 is read as infinity, which JSON cannot represent.
    out += "null";
    return;
  }
  const double size = std::fabs(number);
  const bool exponent = size != 0 && (size < 1e-6 || size >= 1e21);
  std::array<char, 64> digits{};
  const auto done =
      std::to_chars(digits.data(), digits.data() + digits.size(), number,
                    exponent ? std::chars_format::scientific : std::chars_format::fixed);
  std::string_view text(digits.data(), static_cast<std::size_t>(done.ptr - digits.data()));
  const std::size_t padded = text.find("e-0");
  if (padded == text.npos) {
    out += text;
  } else {
    out.append(text.substr(0, padded + 2)).append(text.substr(padded + 3));
  }
}

void print_escape(std::string& out, char c) {
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      break;
  }
  const auto byte = static_cast<unsigned char>(c);
  out += "\\u00";
  out += hex_digits[byte >> 4U];
  out += hex_digits[byte & 15U];
}

// The bytes at which copying stops: those that are escaped, and the first one of a line mark.
constexpr std::array<bool, 256> stops = [] {
  std::array<bool, 256> table{};
  for (std::size_t byte = 0; byte < 0x20; ++byte) table[byte] = true;
  for (const char c : {'"', '\\', '<', '>', '&', '\xe2'})
    table[static_cast<unsigned char>(c)] = true;
  return table;
}();

// U+2028 and U+2029 (e2 80 a8, e2 80 a9), which JavaScript treats as line ends.
bool starts_with_line_mark(std::string_view text) {
  return text.starts_with("\xe2\x80\xa8") || text.starts_with("\xe2\x80\xa9");
}

void print_array(std::string& out, const json::array& array) {
  out += '[';
  bool first = true;
  for (const json::value& item : array) {
    if (!first) out += ',';
    first = false;
    serialize_to(out, item);
  }
  out += ']';
}

void print_object(std::string& out, const json::object& object) {
  out += '{';
  bool first = true;
  for (const auto& field : object) {
    if (!first) out += ',';
    first = false;
    serialize_text_to(out, field.key());
    out += ':';
    serialize_to(out, field.value());
  }
  out += '}';
}

}  // namespace

Result<json::value> parse_json(std::string_view text, const JsonLimits& limits,
                               json::storage_ptr storage) {
  if (text.size() > limits.bytes) {
    return fail(Errc::exhausted, "JSON of " + std::to_string(text.size()) + " bytes, limit " +
                                     std::to_string(limits.bytes));
  }
  if (has_more_values(text, limits.values)) {
    return fail(Errc::exhausted, "JSON of more than " + std::to_string(limits.values) + " values");
  }
  json::parse_options options;
  options.max_depth = limits.depth;
  json::parser parser({}, options);
  parser.reset(std::move(storage));
  boost::system::error_code ec;
  const std::size_t used = parser.write_some(text.data(), text.size(), ec);
  if (ec) return fail(parse_error(used, ec));
  if (!is_blank(text.substr(used))) {
    return fail(parse_error(used, make_error_code(json::error::extra_data)));
  }
  return parser.release();
}

std::string serialize(const json::value& value) {
  std::string out;
  serialize_to(out, value);
  return out;
}

std::string serialize(const json::object& value) {
  std::string out;
  print_object(out, value);
  return out;
}

void serialize_to(std::string& out, const json::value& value) {
  switch (value.kind()) {
    case json::kind::null:
      out += "null";
      return;
    case json::kind::bool_:
      out += value.get_bool() ? "true" : "false";
      return;
    case json::kind::int64:
      print_integer(out, value.get_int64());
      return;
    case json::kind::uint64:
      print_integer(out, value.get_uint64());
      return;
    case json::kind::double_:
      print_double(out, value.get_double());
      return;
    case json::kind::string:
      serialize_text_to(out, value.get_string());
      return;
    case json::kind::array:
      print_array(out, value.get_array());
      return;
    case json::kind::object:
      print_object(out, value.get_object());
      return;
  }
}

void serialize_text_to(std::string& out, std::string_view text) {
  out += '"';
  std::size_t done = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!stops[static_cast<unsigned char>(text[at])]) continue;
    const bool line_mark = starts_with_line_mark(text.substr(at));
    if (!line_mark && text[at] == '\xe2') continue;
    out += text.substr(done, at - done);
    if (line_mark) {
      out += text[at + 2] == '\xa8' ? "\\u2028" : "\\u2029";
      at += 2;
    } else {
      print_escape(out, text[at]);
    }
    done = at + 1;
  }
  out += text.substr(done);
  out += '"';
}

}  // namespace holdfast::sync::wire
