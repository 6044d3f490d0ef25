// Applies the changes of an object's JSON to its protobuf.
//
// Unchanged fields keep their exact bytes, and so does every field that is not in the schema: newer
// servers and clients have such fields, and they must not be lost.

#pragma once

#include <boost/json/object.hpp>
#include <span>
#include <string>
#include <string_view>

#include "platform/result.h"
#include "sync/model/schema.h"

namespace holdfast::sync::objects {

// `base` is an object of `type` without envelope, `before` its JSON from read_protobuf() and
// shape(), and `after` the changed JSON. An item of a list with keys keeps its unknown fields if
// its keys are unchanged; items of other lists keep them only if the item is unchanged. In lists
// named by `in_place` whose length has not changed, each item corresponds to the one at the same
// index.
// Errors: invalid (broken protobuf; a value in `after` of the wrong type).
[[nodiscard]] Result<std::string> carry_changes(const StructType& type, std::string_view base,
                                                const boost::json::object& before,
                                                const boost::json::object& after,
                                                std::span<const std::string_view> in_place = {});

}  // namespace holdfast::sync::objects
