// Reads a lease as far as a renewal needs it, straight from its JSON bytes: a large cluster renews
// hundreds a second.

#pragma once

#include <string_view>

#include "platform/result.h"
#include "sync/model/node.h"

namespace holdfast::sync {

// Only metadata.name, metadata.namespace and spec.renewTime are set; other fields are not looked
// at. Such an object must never be written back.
// Errors: invalid (broken JSON, another kind, a field of the wrong type, no name).
[[nodiscard]] Result<Lease> read_renewal(std::string_view object);

}  // namespace holdfast::sync
