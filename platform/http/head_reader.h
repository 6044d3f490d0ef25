// Parses the head of an HTTP/1.1 message, its start line and headers, as the bytes arrive.
//
// Strict, because two parsers that disagree on where a message ends allow request smuggling (RFC
// 9112, 11.2): every line ends with CR LF, continuation lines are not allowed, and neither are
// control characters except the tab. Malformed input is refused at the offending byte.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "platform/http/message.h"

namespace holdfast::http {

// Assembles a line that arrives in pieces.
class LineReader {
 public:
  // Consumes bytes up to the end of the line and returns how many. `bytes_max` limits the line
  // including CR LF. Errors: invalid (a control character, a bare CR or LF), exhausted (too long).
  [[nodiscard]] Result<std::size_t> put(std::string_view bytes, std::size_t bytes_max);

  [[nodiscard]] bool complete() const { return complete_; }
  // The line without CR LF; the next put() begins another one.
  [[nodiscard]] const std::string& line() const { return line_; }

 private:
  std::string line_;
  bool ends_ = false;  // its CR has arrived
  bool complete_ = false;
};

// Parses a field line into the name and the value without surrounding blanks; both borrow from
// `line`. Errors: invalid.
[[nodiscard]] Result<std::pair<std::string_view, std::string_view>> parse_field(
    std::string_view line);

// Where the body of a message ends.
struct Extent {
  enum class Kind : std::uint8_t { length, chunked, until_end };
  Kind kind = Kind::length;
  std::uint64_t length = 0;  // bytes
};

struct Head {
  std::string method = {};  // of a request
  std::string target = {};  // of a request
  int status = 0;           // of a response
  bool http11 = true;       // false: HTTP/1.0
  Headers headers = {};
};

struct HeadLimits {
  std::size_t bytes = 32UL * 1024;
  std::size_t fields = 256;
};

class HeadReader {
 public:
  enum class Kind : std::uint8_t { request, response };

  explicit HeadReader(Kind kind, HeadLimits limits = {}) : kind_(kind), limits_(limits) {}

  // Consumes bytes up to the end of the head and returns how many. Errors: invalid, exhausted.
  [[nodiscard]] Result<std::size_t> put(std::string_view bytes);

  [[nodiscard]] bool done() const { return done_; }
  [[nodiscard]] const Head& head() const { return head_; }
  [[nodiscard]] Head take() { return std::move(head_); }

 private:
  [[nodiscard]] Status take_line(std::string_view line);

  Kind kind_;
  HeadLimits limits_;
  LineReader line_;
  Head head_;
  std::size_t used_ = 0;  // bytes of the complete lines
  bool started_ = false;  // the start line is complete
  bool done_ = false;
};

// Determines where the body ends, and checks Host. Errors: invalid.
[[nodiscard]] Result<Extent> request_extent(const Head& head);
// The same for a response that may have a body: not for HEAD, 1xx, 204 and 304. Errors: invalid.
[[nodiscard]] Result<Extent> response_extent(const Head& head);

// Whether the sender will keep the connection open after the message, according to its headers.
[[nodiscard]] bool wants_keep_alive(const Head& head);

}  // namespace holdfast::http
