// Reads only the fields of a lease that a renewal needs, directly from its JSON: a large cluster
// renews hundreds of leases per second.

#pragma once

#include <string_view>

#include "platform/result.h"
#include "sync/model/node.h"

namespace holdfast::sync::wire {

// Sets only metadata.name, metadata.namespace and spec.renewTime; other fields are skipped. Such an
// object must never be written back.
// Errors: invalid (broken JSON, another kind, a field of the wrong type, no name).
[[nodiscard]] Result<Lease> read_renewal(std::string_view object);

}  // namespace holdfast::sync::wire
