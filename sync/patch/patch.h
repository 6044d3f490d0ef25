// The three patches of an API server behind one door, with the answers it gives to bad ones.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <tl/expected.hpp>

#include "sync/api/json.h"
#include "sync/api/status.h"

namespace holdfast::sync {

enum class PatchType : std::uint8_t { json, merge, strategic };

// "application/merge-patch+json; charset=utf-8" and the like; nothing for other media types, which
// an API server answers with 415.
[[nodiscard]] std::optional<PatchType> parse_patch_type(std::string_view content_type);
[[nodiscard]] std::string_view media_type(PatchType type);

// Applies the patch to an object of that kind (see has_patch_schema for strategic ones).
// Errors: the answer to give: 400, 413, 415, 422 or 500.
[[nodiscard]] tl::expected<json::value, ApiStatus> apply_patch(PatchType type,
                                                               std::string_view kind,
                                                               json::value object,
                                                               std::string_view patch);

}  // namespace holdfast::sync
