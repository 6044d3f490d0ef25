// Converts JSON to Kubernetes' protobuf by the schema's field numbers; the reverse of protobuf.h.

#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>

#include "platform/result.h"
#include "sync/model/schema.h"

namespace holdfast::sync::objects {

// The object without envelope. Fields without a number and null fields are left out.
// Errors: invalid (a value of the wrong type).
[[nodiscard]] Result<std::string> write_protobuf(const StructType& type,
                                                 const boost::json::object& object);

// Converts an object, a List or a Status to the body of a response, in its envelope.
// Errors: invalid (not JSON; a kind that is not in the schema).
[[nodiscard]] Result<std::string> to_protobuf(std::string_view json);

}  // namespace holdfast::sync::objects
