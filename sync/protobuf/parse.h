// Bytes into a generated message, with an error that says where. Only for the .cpp files that
// include generated headers.

#pragma once

#include <string_view>

#include "platform/result.h"

namespace google::protobuf {
class Arena;
class MessageLite;
}  // namespace google::protobuf

namespace holdfast::sync::proto {

// The object in `bytes`, out of its envelope if it has one.
// Errors: invalid (a broken envelope; a kind other than `kind`).
[[nodiscard]] Result<std::string_view> object_of(std::string_view kind, std::string_view bytes);

// Bytes that a message may take in its arena: empty messages take a hundred bytes there, and two of
// input.
inline constexpr std::size_t arena_bytes_max = 16UL << 20;

// `arena` is the one that `message` was made in. Errors: invalid, with the byte at which the broken
// field begins; exhausted, beyond arena_bytes_max.
[[nodiscard]] Status parse(google::protobuf::MessageLite& message, std::string_view bytes,
                           const google::protobuf::Arena& arena);

}  // namespace holdfast::sync::proto
