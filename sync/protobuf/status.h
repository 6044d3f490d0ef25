// A Status in protobuf; see parse_status() of sync/api/status.h, which takes both encodings.

#pragma once

#include "sync/api/status.h"

namespace holdfast::sync {

// Errors: invalid (no envelope, broken, not a Status).
[[nodiscard]] Result<ApiStatus> parse_protobuf_status(std::string_view body);

// In its envelope.
[[nodiscard]] std::string encode_protobuf_status(const ApiStatus& status);

}  // namespace holdfast::sync
