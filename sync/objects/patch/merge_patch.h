// Applies JSON merge patches (RFC 7386), like the library that upstream uses.

#pragma once

#include "sync/wire/json.h"

namespace holdfast::sync::objects {

// Merges `patch` into `target`: nulls remove fields, objects are merged, everything else is
// replaced. Added values lose their null fields at every depth, also inside arrays. Keys keep their
// order.
void merge_patch(json::value& target, json::value patch);

// Removes null fields from every object in `value`.
void prune_nulls(json::value& value);

}  // namespace holdfast::sync::objects
