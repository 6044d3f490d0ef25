// The error messages of Go's JSON decoder, which clients see in 400 responses.

#pragma once

#include <string>
#include <string_view>

namespace holdfast::agent::lab {

// The error for `text`, such as "invalid character 'n' looking for beginning of object key string"
// or "unexpected end of JSON input"; "" if it is valid JSON.
[[nodiscard]] std::string go_json_error(std::string_view text);

}  // namespace holdfast::agent::lab
