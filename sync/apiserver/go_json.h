// What Go's JSON reader says of a text that is not JSON; clients see it in 400 answers.

#pragma once

#include <string>
#include <string_view>

namespace holdfast::sync {

// "invalid character 'n' looking for beginning of object key string", "unexpected end of JSON
// input"; "" for JSON.
[[nodiscard]] std::string go_json_error(std::string_view text);

}  // namespace holdfast::sync
