// Parses label selectors such as "a=b,c in (d,e),!f". Private to label_query.cpp.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sync/objects/selector.h"

namespace holdfast::sync::objects {

// The requirements in the order of the text. Errors: invalid, in upstream's wording.
[[nodiscard]] Result<std::vector<LabelRequirement>> parse_label_requirements(std::string_view text);

// Creates a requirement with sorted values. Errors: invalid (key, values or their number), in
// upstream's wording.
[[nodiscard]] Result<LabelRequirement> make_requirement(std::string_view key,
                                                        LabelRequirement::Operator op,
                                                        std::vector<std::string> values);

}  // namespace holdfast::sync::objects
