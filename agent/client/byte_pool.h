// A limit on the bytes in memory that several requests hold together. Requests with foreign
// credentials share a smaller part of it, so that they cannot use up the room of the program's own
// requests.
//
// Threading: the loop's thread only.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "platform/result.h"

namespace holdfast::agent {

// Whose credentials a request is sent with.
enum class Requester : std::uint8_t {
  own,      // the program's
  foreign,  // those of a local caller or of another identity
};

struct BytePoolLimits {
  std::size_t bytes = 0;  // of all requests
  std::size_t own = 0;    // of all requests with the program's own credentials
  // Of all other requests; `bytes` - `foreign` always remains for the program.
  std::size_t foreign = 0;
};

class BytePool {
 public:
  // `what` names the bytes in errors: "answers of the API server".
  BytePool(const BytePoolLimits& limits, std::string what)
      : limits_(limits), what_(std::move(what)) {}

  [[nodiscard]] std::size_t bytes() const { return own_ + foreign_; }

 private:
  friend class ByteReservation;
  // Replaces `before` bytes by `after`. Errors: exhausted; then nothing has changed.
  [[nodiscard]] Status resize(Requester requester, std::size_t before, std::size_t after);

  BytePoolLimits limits_;
  std::string what_;
  std::size_t own_ = 0;
  std::size_t foreign_ = 0;
};

// The bytes that one request holds of a pool. Returns them in its destructor. The pool must outlive
// it.
class ByteReservation {
 public:
  ByteReservation(BytePool& pool, Requester requester) : pool_(pool), requester_(requester) {}
  ~ByteReservation() { (void)set(0); }
  ByteReservation(const ByteReservation&) = delete;
  ByteReservation& operator=(const ByteReservation&) = delete;

  // Replaces the number of bytes held. Errors: exhausted; then it still holds the previous number.
  // A smaller number never fails.
  [[nodiscard]] Status set(std::size_t bytes);

 private:
  BytePool& pool_;
  Requester requester_;
  std::size_t bytes_ = 0;
};

}  // namespace holdfast::agent
