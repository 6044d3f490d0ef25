// Parses HTTP/1.1 messages as their bytes arrive. No socket: the caller feeds, the reader tells.
//
// Limits are enforced before anything is kept. Beast does the parsing.

#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "platform/http/message.h"

namespace holdfast::http {

struct ReaderLimits {
  std::size_t header_bytes = 32 * 1024;
  std::size_t body_bytes = 3 * 1024 * 1024;
};

// One request at a time; bytes beyond it wait for the next.
class RequestReader {
 public:
  explicit RequestReader(ReaderLimits limits);
  ~RequestReader();
  RequestReader(RequestReader&&) noexcept;

  // Errors: invalid (malformed), exhausted (over a limit); refusal() then has the status to answer.
  [[nodiscard]] Status put(std::string_view bytes);

  [[nodiscard]] bool begun() const;  // a byte of the request has arrived
  [[nodiscard]] bool done() const;
  // Whether the client waits for "100 Continue" before it sends the body; true once.
  [[nodiscard]] bool take_expectation();
  [[nodiscard]] int refusal() const;  // 400, 413 or 431

  // When done(): the request; the reader turns to the next one. put("") parses what is left over.
  [[nodiscard]] Request take(bool& keep_alive);
  // What has arrived after it: a tunnel's first bytes.
  [[nodiscard]] std::string take_rest();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// One response; the body can be taken while it arrives.
class ResponseReader {
 public:
  ResponseReader(ReaderLimits limits, bool head_request);
  ~ResponseReader();
  ResponseReader(ResponseReader&&) noexcept;
  ResponseReader& operator=(ResponseReader&&) noexcept;

  // Errors: corrupt (not HTTP), exhausted (over a limit).
  [[nodiscard]] Status put(std::string_view bytes);
  // The peer closed. Errors: unavailable (in the middle of a message).
  [[nodiscard]] Status put_end();

  [[nodiscard]] bool header_done() const;
  [[nodiscard]] bool done() const;
  [[nodiscard]] bool keep_alive() const;
  // After header_done(): status and headers.
  [[nodiscard]] Response head() const;
  // What has arrived of the body since the last call.
  [[nodiscard]] std::string take_body();
  // From now on the body may be endless, as long as it is taken.
  void allow_endless_body();
  // Bytes that arrived after the message: a tunnel's first ones.
  [[nodiscard]] std::string take_rest();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace holdfast::http
