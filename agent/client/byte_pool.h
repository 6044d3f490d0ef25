// A limit of bytes in memory that several requests share, with a part that requests with foreign
// credentials cannot take.
//
// Threading: the loop's thread only.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "platform/result.h"

namespace holdfast::agent {

// Whose credentials a request has.
enum class Requester : std::uint8_t {
  own,      // the program's
  foreign,  // those of a caller, or of another identity
};

struct BytePoolLimits {
  std::size_t bytes = 0;    // of all requests
  std::size_t own = 0;      // of all requests with the program's own credentials
  std::size_t foreign = 0;  // of all others; `bytes` less this always remains for the program
};

class BytePool {
 public:
  // `what` names the bytes in errors: "answers of the API server".
  BytePool(const BytePoolLimits& limits, std::string what)
      : limits_(limits), what_(std::move(what)) {}

  [[nodiscard]] std::size_t bytes() const { return own_ + foreign_; }

 private:
  friend class HeldBytes;
  // Replaces `before` bytes by `after`. Errors: exhausted; then nothing has changed.
  [[nodiscard]] Status resize(Requester whose, std::size_t before, std::size_t after);

  BytePoolLimits limits_;
  std::string what_;
  std::size_t own_ = 0;
  std::size_t foreign_ = 0;
};

// The bytes that one request holds of a pool, which outlives it; given back at its end.
class HeldBytes {
 public:
  HeldBytes(BytePool& pool, Requester whose) : pool_(pool), whose_(whose) {}
  ~HeldBytes() { (void)set(0); }
  HeldBytes(const HeldBytes&) = delete;
  HeldBytes& operator=(const HeldBytes&) = delete;

  // Errors: exhausted; then it holds what it held before. Fewer bytes are always possible.
  [[nodiscard]] Status set(std::size_t bytes);

 private:
  BytePool& pool_;
  Requester whose_;
  std::size_t bytes_ = 0;
};

}  // namespace holdfast::agent
