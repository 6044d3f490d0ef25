// Applies strategic merge patches: like merge patches, but lists of known kinds are merged by key,
// and the directives $patch, $retainKeys, $setElementOrder/x and $deleteFromPrimitiveList/x are
// supported.

#pragma once

#include <string_view>

#include "sync/wire/json.h"

namespace holdfast::sync::objects {

// Applies `patch` to an object of this kind. Merged lists are in the order of the patch; elements
// that only the server had are inserted according to their previous order.
// Errors, in upstream's wording: invalid (the patch is malformed; upstream responds 400), corrupt
// (it does not fit the object, or an element has no key; upstream responds 500).
[[nodiscard]] Result<json::object> strategic_patch(std::string_view kind, json::object original,
                                                   json::object patch);

}  // namespace holdfast::sync::objects
