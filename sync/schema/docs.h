// Texts of types and fields, as OpenAPI documents show them. Separate from schema.h, so that
// programs that do not need the texts do not contain them.

#pragma once

#include <string_view>

namespace holdfast::sync {

// The text of a type, or of one of its fields; "" when there is none. Lives as long as the program.
[[nodiscard]] std::string_view find_doc(std::string_view type, std::string_view field = {});

}  // namespace holdfast::sync
