// Splits a List response into the exact bytes of its items, and builds a List from items.
//
// Items of typed lists have no kind and apiVersion; single objects and watch events begin with
// them: {"kind":"Pod","apiVersion":"v1","metadata":... So one cached form of an object can serve
// both, byte for byte as the API server would.

#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "platform/result.h"

namespace holdfast::sync::wire {

struct ListHead {
  std::string kind;         // "PodList"
  std::string api_version;  // "v1"
  std::string resource_version;
  std::string continue_token;  // "" on the last page
  std::optional<std::int64_t> remaining_item_count;

  bool operator==(const ListHead&) const = default;
};

struct ListBytes {
  ListHead head;
  std::vector<std::string_view> items;  // borrowed from the list's bytes

  bool operator==(const ListBytes&) const = default;
};

// For lists from a trusted source. A hostile list of empty objects needs more than twenty times its
// size in memory when it is split and its items are copied.
inline constexpr std::size_t no_item_limit = std::numeric_limits<std::size_t>::max();

// Splits a list. Errors: invalid (broken or truncated JSON, or no "items" at all, which is not an
// empty list), exhausted (more than `items_max` items).
[[nodiscard]] Result<ListBytes> split_list(std::string_view list,
                                           std::size_t items_max = no_item_limit);

// The error of split_list() and split_protobuf_list() for more than `items_max` items.
[[nodiscard]] Error too_many_items(std::size_t items_max);

// {"kind":...,"apiVersion":...,"metadata":{...},"items":[...]}, without the newline at the end of
// an API server's response. An empty resource_version is left out.
[[nodiscard]] std::string join_list(const ListHead& head, std::span<const std::string_view> items);
// The part of it before the first item, and the part after the last.
[[nodiscard]] std::string list_prefix(const ListHead& head);
inline constexpr std::string_view list_suffix = "]}";

// An item as a separate object, beginning with kind and apiVersion. An item that already has them
// (custom resources do) is not changed. `item` must be an object.
[[nodiscard]] std::string standalone(std::string_view item, std::string_view kind,
                                     std::string_view api_version);

// An object as an item of a typed list, without its kind and apiVersion.
// Errors: invalid (broken JSON).
[[nodiscard]] Result<std::string> as_item(std::string_view object);

// "PodList" -> "Pod". Any other text is returned unchanged.
[[nodiscard]] std::string_view item_kind(std::string_view list_kind);

}  // namespace holdfast::sync::wire
