// $(NAME) in commands, arguments and values, as Kubernetes expands it.

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::sync {

// The value of a variable, or nothing when it is not defined.
using Variables = std::function<std::optional<std::string_view>(std::string_view name)>;

// Replaces each $(NAME) by its value and $$ by $. A name without a value stays as it stands, and so
// does whatever is not a complete reference. Values are not expanded again.
[[nodiscard]] std::string expand(std::string_view text, const Variables& variables);

}  // namespace holdfast::sync
