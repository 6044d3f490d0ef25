// The regular expressions of JSON schemas, as ECMAScript has them. Only this file uses a library
// for them. Its matcher needs time in proportion to the text, and does not recurse into it.

#pragma once

#include <string>
#include <string_view>

namespace holdfast::agent::lab {

// Why the pattern is no regular expression; "" if it is one.
[[nodiscard]] std::string pattern_problem(const std::string& pattern);

// Whether a part of the text matches the pattern, which must be a valid one.
[[nodiscard]] bool matches_pattern(std::string_view text, const std::string& pattern);

}  // namespace holdfast::agent::lab
