// The Status in an answer's body, in either encoding.

#pragma once

#include "sync/api/status.h"

namespace holdfast::sync {

// In JSON or in protobuf. Errors: invalid (broken, or not a Status).
[[nodiscard]] Result<ApiStatus> parse_status(std::string_view body);

// The answer of another server as our Error. Its body may be a Status or anything else.
[[nodiscard]] Error to_error(int http_status, std::string_view body);

// Errors: invalid (no envelope, broken, not a Status).
[[nodiscard]] Result<ApiStatus> parse_protobuf_status(std::string_view body);

// In its envelope.
[[nodiscard]] std::string encode_protobuf_status(const ApiStatus& status);

}  // namespace holdfast::sync
