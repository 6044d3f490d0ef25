// Parses bytes into a generated message, with an error that names the position. Include it only in
// .cpp files that include generated headers.

#pragma once

#include <string_view>

#include "platform/result.h"

namespace google::protobuf {
class Arena;
class MessageLite;
}  // namespace google::protobuf

namespace holdfast::sync::wire::proto {

// The object in `bytes`, without its envelope if it has one.
// Errors: invalid (a broken envelope; a kind other than `kind`).
[[nodiscard]] Result<std::string_view> object_of(std::string_view kind, std::string_view bytes);

// The maximum size of a message in its arena: an empty message takes a hundred bytes there, but
// only two bytes of input.
inline constexpr std::size_t arena_bytes_max = 16UL << 20;

// `arena` must be the one that `message` was created in. Errors: invalid with the offset of the
// broken field; exhausted (over arena_bytes_max).
[[nodiscard]] Status parse(google::protobuf::MessageLite& message, std::string_view bytes,
                           const google::protobuf::Arena& arena);

}  // namespace holdfast::sync::wire::proto
