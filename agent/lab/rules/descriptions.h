// The texts of types and fields in OpenAPI documents, from descriptions.txt and, for what it does
// not have, from sync/model/tables. Only the lab contains them.

#pragma once

#include <string_view>

namespace holdfast::agent::lab {

// The text of a type or of one of its fields; "" if there is none. Valid as long as the program
// runs.
[[nodiscard]] std::string_view find_description(std::string_view type, std::string_view field = {});

}  // namespace holdfast::agent::lab
