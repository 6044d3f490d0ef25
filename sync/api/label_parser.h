// The grammar of label selectors: "a=b,c in (d,e),!f". For label_query.cpp.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sync/api/selector.h"

namespace holdfast::sync {

// In the order they stand. Errors: invalid, with upstream's words.
[[nodiscard]] Result<std::vector<LabelRequirement>> parse_label_requirements(std::string_view text);

// Sorts the values. Errors: invalid (key, values, or their number), with upstream's words.
[[nodiscard]] Result<LabelRequirement> make_requirement(std::string_view key,
                                                        LabelRequirement::Operator op,
                                                        std::vector<std::string> values);

}  // namespace holdfast::sync
