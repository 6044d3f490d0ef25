// Where a codec is in an object: for errors, which name the place.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace holdfast::sync::codec {

// Lives on the stack, spelled out only for an error: "spec.taints[2].effect".
struct Path {
  const Path* parent = nullptr;
  std::string_view name;  // of a field
  std::string_view key;   // of a map's entry
  std::size_t index = 0;  // of an array's element, when the two above are empty

  [[nodiscard]] std::string text() const;
};

}  // namespace holdfast::sync::codec
