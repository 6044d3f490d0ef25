// JSON written as Kubernetes' protobuf by the schema's field numbers: the way back from protobuf.h.

#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>

#include "platform/result.h"
#include "sync/schema/schema.h"

namespace holdfast::sync {

// The object without envelope. Fields without a number are left out, as is what is null.
// Errors: invalid (a value that is not of its field's type).
[[nodiscard]] Result<std::string> write_protobuf(const StructType& type,
                                                 const boost::json::object& object);

// An object or a List as the body of an answer, in its envelope.
// Errors: invalid (no JSON; a kind that the schema does not have).
[[nodiscard]] Result<std::string> to_protobuf(std::string_view json);

}  // namespace holdfast::sync
