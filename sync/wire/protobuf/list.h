// Splits a List response in protobuf and builds one; see sync/wire/list_bytes.h for JSON.

#pragma once

#include "sync/wire/list_bytes.h"
#include "sync/wire/protobuf/envelope.h"

namespace holdfast::sync::wire {

// Returns the items without envelope.
// Errors: invalid (no envelope; broken or truncated; not a List; no metadata, which even an empty
// List has); exhausted (more than `items_max` items).
[[nodiscard]] Result<ListBytes> split_protobuf_list(std::string_view list,
                                                    std::size_t items_max = no_item_limit);

// The List of these objects, as an API server writes it. `items` have no envelope.
[[nodiscard]] std::string join_protobuf_list(const ListHead& head,
                                             std::span<const std::string_view> items);
// The parts of it: before the first item, if all items with their prefixes have `items_size` bytes;
// before an item of `item_size` bytes; after the last item.
[[nodiscard]] std::string protobuf_list_prefix(const ListHead& head, std::size_t items_size);
[[nodiscard]] std::string protobuf_item_prefix(std::size_t item_size);
inline constexpr std::string_view protobuf_list_suffix = envelope_suffix;

}  // namespace holdfast::sync::wire
