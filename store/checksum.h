// Checksums of rows: SQLite checks a file's structure, but not the bytes stored in it.
//
// Every change of a single byte changes the checksum. It does not protect against deliberate
// changes.

#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace holdfast::store {

// FNV-1a, 64 bits, as SQLite's INTEGER.
class Checksum {
 public:
  constexpr void add(std::string_view bytes) {
    for (const char c : bytes) {
      sum_ ^= static_cast<unsigned char>(c);
      sum_ *= 0x100000001b3;
    }
  }
  [[nodiscard]] constexpr std::int64_t value() const { return static_cast<std::int64_t>(sum_); }

 private:
  std::uint64_t sum_ = 0xcbf29ce484222325;
};

[[nodiscard]] constexpr std::int64_t checksum(std::string_view bytes) {
  Checksum sum;
  sum.add(bytes);
  return sum.value();
}

// The checksum of a row with packed bytes, including their unpacked size. `packed` 0 (not packed)
// gives the same checksum as without it.
[[nodiscard]] inline std::int64_t checksum(std::string_view bytes, std::int64_t packed) {
  Checksum sum;
  sum.add(bytes);
  if (packed != 0) sum.add(std::to_string(packed));
  return sum.value();
}

// The checksum of several columns, including their boundaries.
[[nodiscard]] inline std::int64_t checksum(std::initializer_list<std::string_view> columns,
                                           std::int64_t packed = 0) {
  Checksum sum;
  for (const std::string_view column : columns) {
    sum.add(column);
    sum.add(std::string_view("\0", 1));
  }
  if (packed != 0) sum.add(std::to_string(packed));
  return sum.value();
}

}  // namespace holdfast::store
