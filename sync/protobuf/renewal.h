// Reads a lease as far as a renewal needs it, straight from its protobuf; see
// sync/api/lease_renewal.h for JSON.

#pragma once

#include "sync/api/lease_renewal.h"

namespace holdfast::sync {

// Of a Lease in its envelope; sets what read_renewal() sets.
// Errors: invalid (broken, another kind, a field of the wrong type, no name).
[[nodiscard]] Result<Lease> read_protobuf_renewal(std::string_view object);

}  // namespace holdfast::sync
