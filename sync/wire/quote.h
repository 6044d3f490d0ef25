// Quotes text as Go's %q does, for upstream's error messages.

#pragma once

#include <string>
#include <string_view>

namespace holdfast::sync::wire {

// "a\"b\n" in double quotes, with Go's escapes.
[[nodiscard]] std::string quoted(std::string_view text);

}  // namespace holdfast::sync::wire
