// Reads only the fields of a lease that a renewal needs from its protobuf; see
// sync/wire/lease_renewal.h for JSON.

#pragma once

#include "sync/wire/lease_renewal.h"

namespace holdfast::sync::wire {

// Reads a Lease in its envelope and sets the same fields as read_renewal().
// Errors: invalid (broken, another kind, a field of the wrong type, no name).
[[nodiscard]] Result<Lease> read_protobuf_renewal(std::string_view object);

}  // namespace holdfast::sync::wire
