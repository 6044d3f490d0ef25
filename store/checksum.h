// A checksum for rows: SQLite checks a file's structure, but not the bytes it keeps for us.
//
// Any change of one byte changes it. It is no defence against someone who means harm.

#pragma once

#include <cstdint>
#include <string_view>

namespace holdfast::store {

// FNV-1a, 64 bits, as SQLite's INTEGER.
[[nodiscard]] constexpr std::int64_t checksum(std::string_view bytes) {
  std::uint64_t sum = 0xcbf29ce484222325;
  for (const char c : bytes) {
    sum ^= static_cast<unsigned char>(c);
    sum *= 0x100000001b3;
  }
  return static_cast<std::int64_t>(sum);
}

}  // namespace holdfast::store
