// Splits a List response in protobuf and builds one; see sync/wire/list_bytes.h for JSON.

#pragma once

#include "sync/wire/list_bytes.h"

namespace holdfast::sync::wire {

// Returns the items without envelope.
// Errors: invalid (no envelope; broken or truncated; not a List; no metadata, which even an empty
// List has); exhausted (more than `items_max` items).
[[nodiscard]] Result<ListBytes> split_protobuf_list(std::string_view list,
                                                    std::size_t items_max = no_item_limit);

// The List of these objects, as an API server writes it. `items` have no envelope.
[[nodiscard]] std::string join_protobuf_list(const ListHead& head,
                                             std::span<const std::string_view> items);

}  // namespace holdfast::sync::wire
