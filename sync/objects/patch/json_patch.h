// Applies JSON patches (RFC 6902), with the behaviour and error texts of the library that upstream
// uses: a negative index counts from the end, and "replace" may create a field of an object.

#pragma once

#include <cstddef>

#include "sync/wire/json.h"

namespace holdfast::sync::objects {

struct JsonPatchLimits {
  std::size_t operations = 10'000;       // upstream's limit
  std::size_t copied_bytes = 3UL << 20;  // of all "copy" operations together
};

// Applies all operations, or none.
// Errors: invalid (an operation cannot be applied, or a test failed), naming the operation;
// exhausted (over a limit).
[[nodiscard]] Result<json::value> json_patch(json::value document, const json::array& operations,
                                             const JsonPatchLimits& limits = {});

}  // namespace holdfast::sync::objects
