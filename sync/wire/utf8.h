// Checks for well-formed UTF-8 as Unicode defines it: no surrogates, no overlong forms, no code
// points above U+10FFFF.

#pragma once

#include <cstddef>
#include <string_view>

namespace holdfast::sync::wire {

// The length in bytes of the first code point of `text`; 0 if it is not well-formed. `text` must
// not be empty.
[[nodiscard]] std::size_t utf8_length(std::string_view text);

[[nodiscard]] bool is_utf8(std::string_view text);

}  // namespace holdfast::sync::wire
