// Creates strategic merge patches from two versions of an object, like upstream's
// strategicpatch.CreateTwoWayMergePatch.

#pragma once

#include <string_view>

#include "sync/wire/json.h"

namespace holdfast::sync::objects {

// The patch with which strategic_patch() turns `original` into `modified`; empty if they are equal.
// Both must be objects of this kind (see has_patch_schema()) without null fields.
//
// For a list with a merge key, the patch has the changed elements, `$patch: delete` for removed
// ones, and `$setElementOrder`. Other lists are replaced. It differs from upstream in one case: a
// list in which a key occurs twice (a node's addresses) is replaced with `$patch: replace`, as the
// kubelet does, because upstream's result would not lead to `modified`.
// Errors: corrupt (an element without its key, a list with mixed elements), invalid (a mergeable
// list of lists).
[[nodiscard]] Result<json::object> strategic_diff(std::string_view kind,
                                                  const json::object& original,
                                                  const json::object& modified);

}  // namespace holdfast::sync::objects
