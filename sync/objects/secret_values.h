// Secrets as they may be shown to people. Pure.

#pragma once

#include <string>
#include <string_view>

namespace holdfast::sync::objects {

// The Secret without its values, of which only the lengths are left, and without its annotations
// and managed fields, which may contain a copy that kubectl made. "null" if `secret` is no JSON
// object.
[[nodiscard]] std::string without_secret_values(std::string_view secret);

}  // namespace holdfast::sync::objects
