// gzip bodies (RFC 1952) made plain again, piece by piece and within limits.
//
// A few compressed bytes can stand for a thousand times as many: what comes out is given out in
// small pieces and is counted, and a body that grows over its limit is refused before it is held.
//
// Threading: one thread at a time. The memory of one Inflater is about 40 KiB besides its pieces.

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
  std::size_t piece_bytes = 64UL << 10;  // of what is given out at a time
};

class Inflater {
 public:
  explicit Inflater(const InflateLimits& limits = {});
  ~Inflater();
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // The next compressed bytes. Those before must have been used up: next() gave "".
  void give(std::string compressed);

  // The next plain bytes, at most `piece_bytes`; "" when more compressed ones are needed.
  // Errors: corrupt (not gzip, a wrong checksum), exhausted (the body is over its limit). After an
  // error every call repeats it.
  [[nodiscard]] Result<std::string> next();

  // To be called at the body's end. Errors: corrupt, when the last member is not complete.
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

// A whole body at once. Errors: those of Inflater.
[[nodiscard]] Result<std::string> inflate(std::string compressed, const InflateLimits& limits = {});

// Whether the body of an answer with these headers is gzip.
[[nodiscard]] bool is_gzip(const Headers& headers);

// The answer with a plain body or stream and without Content-Encoding; one that is not gzip as it
// is. Response::wire_bytes then counts the compressed bytes, those of a stream as they are read.
// Errors: those of Inflater, for a body; a stream tells its own from next().
[[nodiscard]] Result<Response> inflated(Response response, const InflateLimits& limits = {});

}  // namespace holdfast::http
