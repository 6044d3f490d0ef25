// Functions that every fuzz target uses: they view the input as text and split it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "platform/random.h"

namespace holdfast::test {

// The result refers to `data`.
inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// The bytes split as a network might split them, with some empty pieces; inputs of one size are
// always split alike.
inline std::vector<std::string_view> pieces(std::string_view bytes) {
  Random random(bytes.size());
  std::vector<std::string_view> cut;
  while (!bytes.empty()) {
    const std::size_t length = random.below(random.below(4) == 0 ? 64 : 4);
    cut.push_back(bytes.substr(0, length));
    bytes.remove_prefix(cut.back().size());
  }
  return cut;
}

}  // namespace holdfast::test
