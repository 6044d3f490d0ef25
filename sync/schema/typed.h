// JSON as a typed server sees it: read into the shape of a kind and written out again.
//
// Going through shape() gives what going through a Go struct gives: known fields only, in
// upstream's order, zero values left out or filled in as the field says, times and quantities in
// their canonical form. Everything we store and answer has been through it.

#pragma once

#include <boost/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "platform/result.h"
#include "sync/schema/schema.h"

namespace holdfast::sync {

struct Shaped {
  boost::json::object object;
  std::vector<std::string> unknown;  // paths of fields that were dropped: "spec.containers[0].x"
};

// Shapes `value` as `type`. With `kind` and `api_version` not empty these two come first, as the
// type's own; otherwise they are left out.
// Errors: invalid, worded as Go's JSON reader does ("json: cannot unmarshal string into ...").
[[nodiscard]] Result<Shaped> shape(const StructType& type, const boost::json::value& value,
                                   std::string_view kind = {}, std::string_view api_version = {});

}  // namespace holdfast::sync
