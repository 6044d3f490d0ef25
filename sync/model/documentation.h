// The documentation of types and fields for OpenAPI documents. It is separate from schema.h so that
// only programs that need the texts contain them.

#pragma once

#include <string_view>

namespace holdfast::sync::inline model {

// The text of a type or of one of its fields; "" if there is none. Valid as long as the program
// runs.
[[nodiscard]] std::string_view find_doc(std::string_view type, std::string_view field = {});

}  // namespace holdfast::sync::inline model
