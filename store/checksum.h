// A checksum for rows: SQLite checks a file's structure, but not the bytes it keeps for us.
//
// Any change of one byte changes it. It is no defence against someone who means harm.

#pragma once

#include <cstdint>
#include <initializer_list>
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

// Of several columns. Where one ends and the next begins matters.
[[nodiscard]] constexpr std::int64_t checksum(std::initializer_list<std::string_view> columns) {
  Checksum sum;
  for (const std::string_view column : columns) {
    sum.add(column);
    sum.add(std::string_view("\0", 1));
  }
  return sum.value();
}

}  // namespace holdfast::store
