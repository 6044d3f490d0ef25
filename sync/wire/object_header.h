// Reads the fields of an object that indexes, selectors and logs need directly from its JSON, and
// changes its resourceVersion there, without decoding the whole object.

#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "platform/result.h"
#include "platform/time.h"
#include "sync/model/string_map.h"

namespace holdfast::sync::wire {

struct ObjectHeader {
  std::string api_version;  // "" in an item of a list
  std::string kind;         // "" in an item of a list
  std::string namespace_name;
  std::string name;
  std::string uid;
  std::string resource_version;
  StringMap labels;
  std::optional<WallTime> deletion_timestamp;

  bool operator==(const ObjectHeader&) const = default;
};

// Stops after the last field that it needs; the bytes after it are not checked.
// Errors: invalid (not an object, broken JSON, a field of the wrong type).
[[nodiscard]] Result<ObjectHeader> read_header(std::string_view object);

// The scalar at a path of field names such as {"spec", "nodeName"}: strings are decoded, numbers
// and booleans returned as written. Nothing if it is missing or null.
// Errors: invalid (broken JSON before it; an object or array at the path).
[[nodiscard]] Result<std::optional<std::string>> text_at(std::string_view object,
                                                         std::span<const std::string_view> path);
[[nodiscard]] inline Result<std::optional<std::string>> text_at(
    std::string_view object, std::initializer_list<std::string_view> path) {
  return text_at(object, std::span<const std::string_view>(path.begin(), path.size()));
}

// The same bytes with another metadata.resourceVersion, inserted after the uid if there was none.
// Errors: invalid (broken JSON, no metadata).
[[nodiscard]] Result<std::string> with_resource_version(std::string_view object,
                                                        std::string_view resource_version);

}  // namespace holdfast::sync::wire
