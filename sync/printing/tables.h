// Server-side tables for `kubectl get`: columns, cells and row objects.

#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <string_view>

#include "platform/time.h"
#include "sync/printing/resources.h"

namespace holdfast::sync::printing {

// What a row includes of its object besides the cells.
enum class IncludeObject : std::uint8_t { none, metadata, object };

// Whether we know more columns for the resource than name and age.
[[nodiscard]] bool has_own_columns(const Resource& resource);

// The `columnDefinitions` of a resource's table.
[[nodiscard]] const boost::json::array& columns_of(const Resource& resource);

// The cells of one row, one per column. `now` is used for ages.
[[nodiscard]] boost::json::array cells_of(const Resource& resource,
                                          const boost::json::object& object, WallTime now);

// A Table of `objects` (each with kind and apiVersion) with the list's `metadata`. In a watch, only
// the first event has columns.
[[nodiscard]] boost::json::object make_table(const Resource& resource, boost::json::object metadata,
                                             const boost::json::array& objects, WallTime now,
                                             IncludeObject include, bool with_columns);

// The `object` of a row.
[[nodiscard]] boost::json::value row_object(const boost::json::object& object,
                                            IncludeObject include);

// PartialObjectMetadata of one object.
[[nodiscard]] boost::json::object metadata_only(const boost::json::object& object);

}  // namespace holdfast::sync::printing
