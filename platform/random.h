// Pseudorandom numbers, seeded by the caller: a simulation with the same seed repeats exactly.
//
// Pure code takes a Random&. What runs on a loop seeds it with loop::make_random(), tests and the
// simulator with a number that they print. Not thread-safe.

#pragma once

#include <cstdint>
#include <string>

#include "platform/time.h"

namespace holdfast {

// A new secret: 32 bytes of the kernel's entropy as 64 hexadecimal digits. Never make a secret with
// Random, whose next number can be computed from earlier ones.
[[nodiscard]] std::string make_secret();

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  // Seeded from the kernel's entropy.
  [[nodiscard]] static Random from_entropy();

  [[nodiscard]] std::uint64_t next();

  // Uniform in [0, 1).
  [[nodiscard]] double unit();

  // Uniform in [0, bound); 0 when `bound` is 0.
  [[nodiscard]] std::uint64_t below(std::uint64_t bound);

  // Full jitter: uniform in [0, most].
  [[nodiscard]] Duration jitter(Duration most);

  // `length` characters drawn from `alphabet`, which must not be empty.
  [[nodiscard]] std::string text(std::size_t length, std::string_view alphabet);

  // A random (version 4) UUID in its usual form.
  [[nodiscard]] std::string uuid();

 private:
  std::uint64_t state_;
};

}  // namespace holdfast
