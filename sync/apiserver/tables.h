// Tables, as servers print objects for `kubectl get`: columns, cells and what a row carries.

#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <string_view>

#include "platform/time.h"
#include "sync/apiserver/resources.h"

namespace holdfast::sync {

// What a row says of its object besides the cells.
enum class IncludeObject : std::uint8_t { none, metadata, object };

// Whether its table has more columns than name and age, as far as we know.
[[nodiscard]] bool has_own_columns(const Resource& resource);

// The columns of a resource's table, as `columnDefinitions` has them.
[[nodiscard]] const boost::json::array& columns_of(const Resource& resource);

// One row's cells, one for each column. `now` makes ages.
[[nodiscard]] boost::json::array cells_of(const Resource& resource,
                                          const boost::json::object& object, WallTime now);

// A Table of `objects` (each with kind and apiVersion) with the list's `metadata`. Events of a
// watch after the first go without columns.
[[nodiscard]] boost::json::object make_table(const Resource& resource, boost::json::object metadata,
                                             const boost::json::array& objects, WallTime now,
                                             IncludeObject include, bool with_columns);

// What a row has as its `object`.
[[nodiscard]] boost::json::value row_object(const boost::json::object& object,
                                            IncludeObject include);

// PartialObjectMetadata of one object.
[[nodiscard]] boost::json::object metadata_only(const boost::json::object& object);

}  // namespace holdfast::sync
