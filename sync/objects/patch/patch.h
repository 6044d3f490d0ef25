// Applies the three patch types of an API server, with the error responses that it sends.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <tl/expected.hpp>

#include "sync/wire/json.h"
#include "sync/wire/status.h"

namespace holdfast::sync::objects {

enum class PatchType : std::uint8_t { json, merge, strategic };

// Parses "application/merge-patch+json; charset=utf-8" and the like; returns nothing for other
// media types, to which an API server responds 415.
[[nodiscard]] std::optional<PatchType> parse_patch_type(std::string_view content_type);
[[nodiscard]] std::string_view media_type(PatchType type);

// Applies the patch to an object of this kind (for strategic patches see has_patch_schema()).
// Errors: the response to send: 400, 413, 415, 422 or 500.
[[nodiscard]] tl::expected<json::value, wire::ApiStatus> apply_patch(PatchType type,
                                                                     std::string_view kind,
                                                                     json::value object,
                                                                     std::string_view patch);

}  // namespace holdfast::sync::objects
