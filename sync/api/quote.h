// Text in quotes as Go's %q prints it: what upstream's error messages are full of.

#pragma once

#include <string>
#include <string_view>

namespace holdfast::sync {

// "a\"b\n" in double quotes, with Go's escapes.
[[nodiscard]] std::string quoted(std::string_view text);

}  // namespace holdfast::sync
