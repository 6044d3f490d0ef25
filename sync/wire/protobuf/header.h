// Reads the fields of an object that indexes, selectors and logs need from its protobuf, without
// decoding the whole object. See sync/wire/object_header.h for JSON.

#pragma once

#include "sync/wire/object_header.h"

namespace holdfast::sync::wire {

// Reads the header of an object in its envelope.
// Errors: invalid (no envelope, broken, a field of the wrong type).
[[nodiscard]] Result<ObjectHeader> read_protobuf_header(std::string_view object);

// Reads the header of an object in either encoding: protobuf in its envelope, or JSON.
[[nodiscard]] Result<ObjectHeader> read_any_header(std::string_view object);

// The same object with another metadata.resourceVersion; all other bytes are unchanged.
// Errors: invalid (no envelope, broken, no metadata).
[[nodiscard]] Result<std::string> protobuf_with_resource_version(std::string_view object,
                                                                 std::string_view resource_version);

// The object of a bookmark, without envelope: only metadata with this version and, unless
// `annotation` is empty, with this annotation set to "true".
[[nodiscard]] std::string protobuf_bookmark(std::string_view resource_version,
                                            std::string_view annotation);

}  // namespace holdfast::sync::wire
