// Numbers in SPDY frames: the most significant byte first.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::http::spdy {

inline void put_number(std::string& out, std::uint64_t number, int bytes) {
  for (int i = bytes - 1; i >= 0; --i) out += static_cast<char>(number >> (8 * i) & 0xff);
}

// At most four bytes.
[[nodiscard]] inline std::uint32_t read_number(std::string_view bytes) {
  std::uint32_t number = 0;
  for (const char c : bytes) number = number << 8 | static_cast<std::uint8_t>(c);
  return number;
}

}  // namespace holdfast::http::spdy
