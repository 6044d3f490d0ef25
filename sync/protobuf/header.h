// What indexes, selectors and logs need of an object, read from its protobuf without decoding all
// of it; see sync/api/object_header.h for JSON.

#pragma once

#include "sync/api/object_header.h"

namespace holdfast::sync {

// Of an object in its envelope.
// Errors: invalid (no envelope, broken, a field of the wrong type).
[[nodiscard]] Result<ObjectHeader> read_protobuf_header(std::string_view object);

// Of an object in either encoding: protobuf in its envelope, or JSON.
[[nodiscard]] Result<ObjectHeader> read_any_header(std::string_view object);

}  // namespace holdfast::sync
