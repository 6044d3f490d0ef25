// Reads and writes the Status in a response's body, in either encoding.

#pragma once

#include "sync/wire/status.h"

namespace holdfast::sync::wire {

// Parses JSON or protobuf. Errors: invalid (broken, or not a Status).
[[nodiscard]] Result<ApiStatus> parse_status(std::string_view body);

// Converts another server's response to Error. Its body may be a Status or anything else.
[[nodiscard]] Error to_error(int http_status, std::string_view body);

// Errors: invalid (no envelope, broken, not a Status).
[[nodiscard]] Result<ApiStatus> parse_protobuf_status(std::string_view body);

// The Status in its envelope.
[[nodiscard]] std::string encode_protobuf_status(const ApiStatus& status);

}  // namespace holdfast::sync::wire
