// Decompresses gzip bodies (RFC 1952) piece by piece and within limits.
//
// A few compressed bytes can expand a thousandfold. The output is produced in small pieces and
// counted, and a body that grows over its limit is refused before it is buffered.
//
// Threading: one thread at a time. An Inflater uses about 40 KiB besides its pieces.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "platform/http/message.h"
#include "platform/result.h"

namespace holdfast::http {

struct InflateLimits {
  std::size_t body_bytes = 64UL << 20;   // decompressed, of one body
  std::size_t piece_bytes = 64UL << 10;  // the largest piece that next() returns
};

class Inflater {
 public:
  explicit Inflater(const InflateLimits& limits = {});
  ~Inflater();
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // Adds compressed bytes. The previous ones must be used up: next() has returned "".
  void give(std::string compressed);

  // The next decompressed bytes, at most `piece_bytes`; "" if more compressed bytes are needed.
  // Errors: corrupt (not gzip, or a wrong checksum), exhausted (the body is over its limit). After
  // an error every call repeats it.
  [[nodiscard]] Result<std::string> next();

  // Call at the body's end. Errors: corrupt if the last member is incomplete.
  [[nodiscard]] Status finish() const;

 private:
  struct Engine;  // zlib's state
  [[nodiscard]] Status step(std::string& out);

  InflateLimits limits_;
  std::unique_ptr<Engine> engine_;
  std::string input_;
  std::size_t produced_ = 0;
  bool between_ = false;  // a member is complete and no other has begun
  Status failed_;
};

// Decompresses a whole body. Errors: those of Inflater.
[[nodiscard]] Result<std::string> inflate(std::string compressed, const InflateLimits& limits = {});

// Whether the body of an answer with these headers is gzip.
[[nodiscard]] bool is_gzip(const Headers& headers);
// Whether kube-apiserver compresses a large answer to a request with these headers: gzip is one of
// the codings in Accept-Encoding, without a weight.
[[nodiscard]] bool asks_for_gzip(const Headers& headers);

// Returns the response with a decompressed body or stream and without Content-Encoding; a response
// that is not gzip, or has no body, is returned unchanged. Response::wire_bytes counts the
// compressed bytes, those of a stream as they are read. Errors: those of Inflater, for a body; the
// errors of a stream come from its next().
[[nodiscard]] Result<Response> inflated(Response response, const InflateLimits& limits = {});

// Counts the bytes of a response's body that arrive on the wire, piece by piece.
class WireBytes {
 public:
  // Counts those after the ones that have arrived already.
  explicit WireBytes(const Response& response);

  // The bytes that have arrived since the last call, if the pieces read meanwhile have `plain`
  // bytes.
  [[nodiscard]] std::size_t arrived(std::size_t plain);

 private:
  std::shared_ptr<std::size_t> compressed_;  // Response::wire_bytes
  std::size_t counted_;
};

}  // namespace holdfast::http
