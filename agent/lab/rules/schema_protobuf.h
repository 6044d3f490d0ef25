// The JSON schemas in a CustomResourceDefinition that was sent as protobuf. They are a recursive
// message of their own, with unions and floating point numbers, and so not in sync/model.

#pragma once

#include <boost/json/object.hpp>
#include <string_view>

#include "platform/result.h"

namespace holdfast::agent::lab {

// Adds the schemas, and empty `status` subresources, to a definition that sync/objects/protobuf.h
// has read from the same bytes (the object, without its envelope).
// Errors: invalid (broken), exhausted (nested deeper than the schemas that are accepted).
[[nodiscard]] Status add_protobuf_schemas(boost::json::object& crd, std::string_view bytes);

}  // namespace holdfast::agent::lab
