// Expands $(NAME) in commands, arguments and values, as Kubernetes does. Pure.

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::sync::runtime {

// Returns the value of a variable; std::nullopt if it is not defined.
using Variables = std::function<std::optional<std::string_view>(std::string_view name)>;

// Replaces each $(NAME) by its value and $$ by $. A name without a value and an incomplete
// reference stay unchanged. Values are not expanded again.
[[nodiscard]] std::string expand(std::string_view text, const Variables& variables);

}  // namespace holdfast::sync::runtime
