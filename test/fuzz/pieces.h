// What every fuzz target does with its input: read it as text, and cut it up.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "platform/random.h"

namespace holdfast::test {

// Borrowed.
inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// The same bytes in pieces as a network might cut them, some empty; always the same ones for the
// same size.
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
