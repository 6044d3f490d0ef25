// Parses HTTP/1.1 messages as their bytes arrive. It uses no socket: the owner passes in the bytes.
//
// Limits are checked before anything is buffered: a reader holds at most header_bytes of a head,
// body_bytes of a body, one line of chunked framing, and pending_bytes of what follows the message.

#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "platform/http/body_reader.h"
#include "platform/http/message.h"

namespace holdfast::http {

struct ReaderLimits {
  std::size_t header_bytes = 32 * 1024;  // the start line and the headers
  std::size_t body_bytes = 3 * 1024 * 1024;
  std::size_t header_fields = 256;
  ChunkLimits chunks = {};
  std::size_t pending_bytes = 64UL * 1024;  // that have arrived but cannot be parsed yet
  std::size_t interim_answers = 16;         // 1xx responses to one request
  // Parse a request only up to the end of its header until accept_body() is called.
  bool stop_after_header = false;
};

// Parses requests, one at a time. Bytes after a request are kept for the next one.
class RequestReader {
 public:
  explicit RequestReader(ReaderLimits limits);
  ~RequestReader();
  RequestReader(RequestReader&&) noexcept;
  RequestReader& operator=(RequestReader&&) = delete;
  RequestReader(const RequestReader&) = delete;
  RequestReader& operator=(const RequestReader&) = delete;

  // Errors: invalid (malformed), exhausted (over a limit). refusal() is then the status to respond
  // with, and put() must not be called again.
  [[nodiscard]] Status put(std::string_view bytes);

  [[nodiscard]] bool begun() const;        // a byte of the request has arrived
  [[nodiscard]] bool header_done() const;  // its header is complete
  [[nodiscard]] bool done() const;
  // After header_done(), before take(): the request without its body.
  [[nodiscard]] Request head() const;
  // Allows reading a body of at most `body_bytes_max` bytes. With stop_after_header, call it once
  // for each request, even one without a body; the next put() then parses what has already arrived,
  // and so does put("").
  void accept_body(std::size_t body_bytes_max);
  // Bytes held here: the decoded body and bytes that are not parsed yet.
  [[nodiscard]] std::size_t body_size() const;
  // Whether the client waits for "100 Continue" before it sends the body; true only once per
  // request. With stop_after_header, false before accept_body().
  [[nodiscard]] bool take_expectation();
  [[nodiscard]] int refusal() const;  // 400, 413 or 431

  // When done(): returns the request and prepares for the next one. put("") then parses the bytes
  // left over.
  [[nodiscard]] Request take(bool& keep_alive);
  // Bytes that arrived after the request: the first bytes of a tunnel.
  [[nodiscard]] std::string take_rest();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The properties of a request that decide how its answer is read.
struct Asked {
  bool head = false;     // the method was HEAD: the answer has no body
  bool upgrade = false;  // an upgrade was asked for: the answer may be 101
};

// Parses one response; its body can be taken while it arrives. Interim responses (1xx) and trailers
// are skipped. 101 is a response if an upgrade was requested, and an error otherwise.
class ResponseReader {
 public:
  ResponseReader(ReaderLimits limits, Asked asked);
  ~ResponseReader();
  ResponseReader(ResponseReader&&) noexcept;
  ResponseReader& operator=(ResponseReader&&) noexcept;
  ResponseReader(const ResponseReader&) = delete;
  ResponseReader& operator=(const ResponseReader&) = delete;

  // Errors: corrupt (not HTTP), exhausted (over a limit). put() must not be called after an error.
  [[nodiscard]] Status put(std::string_view bytes);
  // Call when the peer has closed the connection. Errors: unavailable (in the middle of a message).
  [[nodiscard]] Status put_end();

  [[nodiscard]] bool header_done() const;
  [[nodiscard]] bool done() const;
  // When done(): whether the connection may carry another request. False if bytes arrived after the
  // response, or if it is doubtful where the response ends.
  [[nodiscard]] bool keep_alive() const;
  // After header_done(): the status and headers.
  [[nodiscard]] Response head() const;
  // The bytes of the body that arrived since the last call.
  [[nodiscard]] std::string take_body();
  // Removes the limit on the body's length, for a caller that takes it piece by piece.
  void allow_endless_body();
  // Bytes that arrived after the response: the first bytes of a tunnel.
  [[nodiscard]] std::string take_rest();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace holdfast::http
