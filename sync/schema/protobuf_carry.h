// Carries what was changed in an object's JSON over into its protobuf.
//
// What did not change keeps its exact bytes, and so does every field that the schema does not have:
// newer servers and clients have such, and nothing of theirs may be lost here.

#pragma once

#include <boost/json/object.hpp>
#include <span>
#include <string>
#include <string_view>

#include "platform/result.h"
#include "sync/schema/schema.h"

namespace holdfast::sync {

// `base` is an object of `type` without envelope, `before` what read_protobuf() and shape() make of
// it, `after` the same object changed. Items of a list that is merged by a key carry their unknown
// fields with the key, others only if they are unchanged. In lists that `in_place` names and that
// are as long as before, the items are those of before at the same places.
// Errors: invalid (broken protobuf; a value in `after` that is not of its field's type).
[[nodiscard]] Result<std::string> carry_changes(const StructType& type, std::string_view base,
                                                const boost::json::object& before,
                                                const boost::json::object& after,
                                                std::span<const std::string_view> in_place = {});

}  // namespace holdfast::sync
