// Creates a strategic merge patch: what turns one object into another, as upstream's
// strategicpatch.CreateTwoWayMergePatch writes it.

#pragma once

#include <string_view>

#include "sync/api/json.h"

namespace holdfast::sync {

// The patch that strategic_patch() turns `original` into `modified` with; empty when they are the
// same. Both are objects of that kind (see has_patch_schema) and have no fields that are null.
//
// Lists with a merge key become the elements that changed, `$patch: delete` for those that are
// gone, and `$setElementOrder`. Other lists are replaced. Differs from upstream's in one case: a
// list in which a key occurs twice (a node's addresses) is replaced with `$patch: replace`, as the
// kubelet does it, because upstream's result would not lead to `modified`.
// Errors: corrupt (an element lacks its key, a list of mixed elements), invalid (a list of lists
// that merges).
[[nodiscard]] Result<json::object> strategic_diff(std::string_view kind,
                                                  const json::object& original,
                                                  const json::object& modified);

}  // namespace holdfast::sync
