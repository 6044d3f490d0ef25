// Bytes into a generated message, with an error that says where. Only for the .cpp files that
// include generated headers.

#pragma once

#include <string_view>

#include "platform/result.h"

namespace google::protobuf {
class MessageLite;
}  // namespace google::protobuf

namespace holdfast::sync::proto {

// The object in `bytes`, out of its envelope if it has one.
// Errors: invalid (a broken envelope; a kind other than `kind`).
[[nodiscard]] Result<std::string_view> object_of(std::string_view kind, std::string_view bytes);

// Errors: invalid, with the byte at which the broken field begins.
[[nodiscard]] Status parse(google::protobuf::MessageLite& message, std::string_view bytes);

}  // namespace holdfast::sync::proto
