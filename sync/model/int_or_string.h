// A number or a text, usually a percentage: "25%".

#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace holdfast::sync::inline model {

struct IntOrString {
  std::int32_t number = 0;
  std::optional<std::string> text;  // if set, it is used instead of `number`

  bool operator==(const IntOrString&) const = default;
};

}  // namespace holdfast::sync::inline model
