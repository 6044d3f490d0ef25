// Strategic merge patch: like a merge patch, but lists of the kinds we serve merge by key, with
// the directives $patch, $retainKeys, $setElementOrder/x and $deleteFromPrimitiveList/x.

#pragma once

#include <string_view>

#include "sync/api/json.h"

namespace holdfast::sync {

// Applies `patch` to an object of that kind. Lists come out in the order of the patch, what only
// the server had interleaved as it was.
// Errors: invalid (the patch breaks the format's rules: upstream answers 400), corrupt (it does
// not fit the object or an element lacks its key: upstream answers 500); upstream's words.
[[nodiscard]] Result<json::object> strategic_patch(std::string_view kind, json::object original,
                                                   json::object patch);

}  // namespace holdfast::sync
