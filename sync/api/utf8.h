// Whether bytes are text: well-formed UTF-8 as Unicode defines it, without surrogates, overlong
// forms and code points above U+10FFFF.

#pragma once

#include <cstddef>
#include <string_view>

namespace holdfast::sync {

// How many bytes the well-formed sequence in front of `text` has; 0 when there is none. `text` must
// not be empty.
[[nodiscard]] std::size_t utf8_length(std::string_view text);

[[nodiscard]] bool is_utf8(std::string_view text);

}  // namespace holdfast::sync
