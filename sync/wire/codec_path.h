// The position of a codec in an object, for errors that name it.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace holdfast::sync::wire::codec {

// A linked list on the stack; text() is called only for an error: "spec.taints[2].effect".
struct Path {
  const Path* parent = nullptr;
  std::string_view name;  // of a field
  std::string_view key;   // of a map's entry
  std::size_t index = 0;  // of an array's element, if name and key are empty

  [[nodiscard]] std::string text() const;
};

}  // namespace holdfast::sync::wire::codec
