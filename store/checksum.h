// A checksum for rows: SQLite checks a file's structure, but not the bytes it keeps for us.
//
// Any change of one byte changes it. It is no defence against someone who means harm.

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

// The same with the mark of a row whose bytes are packed; 0, they are not, adds nothing.
[[nodiscard]] inline std::int64_t checksum(std::string_view bytes, std::int64_t packed) {
  Checksum sum;
  sum.add(bytes);
  if (packed != 0) sum.add(std::to_string(packed));
  return sum.value();
}

// Of several columns. Where one ends and the next begins matters.
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
