// JSON merge patch (RFC 7386), as the library that upstream uses applies it.

#pragma once

#include "sync/api/json.h"

namespace holdfast::sync {

// Merges `patch` into `target`: nulls remove, objects merge, all else replaces. What is new to the
// target loses its nulls at every depth, within arrays too. Keys keep their order.
void merge_patch(json::value& target, json::value patch);

// Takes the fields that are null out of every object in `value`.
void prune_nulls(json::value& value);

}  // namespace holdfast::sync
