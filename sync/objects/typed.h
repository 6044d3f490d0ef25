// Normalizes JSON as a typed API server does.
//
// shape() has the same effect as decoding into a Go struct and encoding again: only known fields,
// in upstream's order, zero values left out or filled in as the schema says, and times and
// quantities in canonical form. Everything that the lab's API server stores and returns has been
// shaped.

#pragma once

#include <boost/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "platform/result.h"
#include "sync/model/schema.h"

namespace holdfast::sync::objects {

struct Shaped {
  boost::json::object object;
  std::vector<std::string> unknown;  // paths of fields that were dropped: "spec.containers[0].x"
};

// metadata.managedFields are in no table. They are dropped, or kept as they are.
enum class ManagedFields : bool { drop, keep };

// Shapes `value` as `type`. If `kind` and `api_version` are given, the result begins with them;
// otherwise it has neither.
// Errors: invalid, in the wording of Go's JSON decoder ("json: cannot unmarshal string into ...").
[[nodiscard]] Result<Shaped> shape(const StructType& type, const boost::json::value& value,
                                   std::string_view kind = {}, std::string_view api_version = {},
                                   ManagedFields managed = ManagedFields::drop);

}  // namespace holdfast::sync::objects
