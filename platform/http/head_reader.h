// Parses the head of an HTTP/1.1 message, its start line and headers, as its bytes arrive.
//
// Strict, because two readers that disagree on where a message ends are a way to smuggle a second
// one past the first (RFC 9112, 11.2): every line ends with CR LF, no line is continued on the next
// one, and no control character but the tab is taken. What is malformed is refused at its byte.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "platform/http/message.h"

namespace holdfast::http {

// Takes a line that arrives in pieces.
class LineReader {
 public:
  // Takes bytes up to the end of the line; returns how many. `bytes_max` bounds the line with its
  // end. Errors: invalid (a control character, a bare CR or LF), exhausted (too long).
  [[nodiscard]] Result<std::size_t> put(std::string_view bytes, std::size_t bytes_max);

  [[nodiscard]] bool complete() const { return complete_; }
  // Without its end; the next put() begins another one.
  [[nodiscard]] const std::string& line() const { return line_; }

 private:
  std::string line_;
  bool ends_ = false;  // its CR has arrived
  bool complete_ = false;
};

// A field line: the name and the value without blanks around it, which borrow from `line`.
// Errors: invalid.
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

  // Takes bytes up to the end of the head; returns how many. Errors: invalid, exhausted.
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
  bool started_ = false;  // the start line is there
  bool done_ = false;
};

// Where the body ends, and whether Host is as it must be. Errors: invalid.
[[nodiscard]] Result<Extent> request_extent(const Head& head);
// The same for an answer that has a body: not for HEAD, 1xx, 204 and 304. Errors: invalid.
[[nodiscard]] Result<Extent> response_extent(const Head& head);

// Whether the sender keeps the connection open after the message, going by its headers.
[[nodiscard]] bool wants_keep_alive(const Head& head);

}  // namespace holdfast::http
