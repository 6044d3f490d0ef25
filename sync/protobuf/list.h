// Takes a List answer in protobuf apart and puts one together; see sync/api/list_bytes.h for JSON.

#pragma once

#include "sync/api/list_bytes.h"

namespace holdfast::sync {

// The items are bare objects, without envelope.
// Errors: invalid (no envelope; broken or cut off; no List; no metadata: a List has them even when
// it is empty); exhausted (more than `items_max` items).
[[nodiscard]] Result<ListBytes> split_protobuf_list(std::string_view list,
                                                    std::size_t items_max = no_item_limit);

// The List of these objects, as an API server writes it. Items are without envelope.
[[nodiscard]] std::string join_protobuf_list(const ListHead& head,
                                             std::span<const std::string_view> items);

}  // namespace holdfast::sync
