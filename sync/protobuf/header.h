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

// The same object with another metadata.resourceVersion; all other bytes stay.
// Errors: invalid (no envelope, broken, no metadata).
[[nodiscard]] Result<std::string> protobuf_with_resource_version(std::string_view object,
                                                                 std::string_view resource_version);

// An object of nothing but metadata with that version and, unless it is empty, that annotation set
// to "true": what a bookmark carries. Without envelope.
[[nodiscard]] std::string protobuf_bookmark(std::string_view resource_version,
                                            std::string_view annotation);

}  // namespace holdfast::sync
