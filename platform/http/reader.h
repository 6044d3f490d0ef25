// Parses HTTP/1.1 messages as their bytes arrive. It has no socket: its owner puts the bytes in.
//
// Limits are enforced before anything is kept: a reader holds at most header_bytes of a head,
// body_bytes of a body, one line between chunks, and pending_bytes of what follows the message.

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
  std::size_t pending_bytes = 64UL * 1024;  // that have arrived and may not be parsed yet
  std::size_t interim_answers = 16;         // 1xx before the answer to one request
  // A request is parsed no further than its header until accept_body().
  bool stop_after_header = false;
};

// One request at a time; bytes beyond it wait for the next.
class RequestReader {
 public:
  explicit RequestReader(ReaderLimits limits);
  ~RequestReader();
  RequestReader(RequestReader&&) noexcept;

  // Errors: invalid (malformed), exhausted (over a limit); refusal() then has the status to answer,
  // and nothing may be put any more.
  [[nodiscard]] Status put(std::string_view bytes);

  [[nodiscard]] bool begun() const;        // a byte of the request has arrived
  [[nodiscard]] bool header_done() const;  // and its header is whole
  [[nodiscard]] bool done() const;
  // After header_done(), before take(): the request without its body.
  [[nodiscard]] Request head() const;
  // Lets the body be read, of at most `body_bytes_max` bytes. With stop_after_header it is called
  // once for each request, also for one without a body; the next put() then goes on with what has
  // arrived, and put("") does, too.
  void accept_body(std::size_t body_bytes_max);
  // Bytes of the body that are kept here, decoded, with those that were not parsed yet.
  [[nodiscard]] std::size_t body_size() const;
  // Whether the client waits for "100 Continue" before it sends the body; true once. With
  // stop_after_header not before accept_body().
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

// The properties of a request that decide how its answer is read.
struct Asked {
  bool head = false;     // the method was HEAD: the answer has no body
  bool upgrade = false;  // an upgrade was asked for: the answer may be 101
};

// One response; the body can be taken while it arrives. Interim answers (1xx) are left out; 101 is
// an answer when an upgrade was asked for, and an error otherwise. Trailers are left out, too.
class ResponseReader {
 public:
  ResponseReader(ReaderLimits limits, Asked asked);
  ~ResponseReader();
  ResponseReader(ResponseReader&&) noexcept;
  ResponseReader& operator=(ResponseReader&&) noexcept;

  // Errors: corrupt (not HTTP), exhausted (over a limit). Nothing may be put after one.
  [[nodiscard]] Status put(std::string_view bytes);
  // The peer closed. Errors: unavailable (in the middle of a message).
  [[nodiscard]] Status put_end();

  [[nodiscard]] bool header_done() const;
  [[nodiscard]] bool done() const;
  // When done(): whether the connection may carry another request. False when a byte has arrived
  // after the answer, or when the answer leaves a doubt where it ends.
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
