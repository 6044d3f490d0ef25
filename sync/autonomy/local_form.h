// Between what clients write, in either encoding, and the JSON that the rules for local writes
// work on.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "platform/result.h"
#include "sync/watch/cached_form.h"

namespace holdfast::sync {

// A request's or an answer's body as JSON. Errors: invalid (broken protobuf; a kind that the schema
// does not have).
[[nodiscard]] Result<std::string> body_as_json(std::string body);

// JSON of an object as the body of an answer. Errors: as in_encoding().
[[nodiscard]] Result<std::string> body_in(Encoding encoding, std::string json);

// `object`, the JSON of a whole object, in the form that a scope of this kind keeps. `last` is what
// the scope has of it now: what the write did not change keeps its bytes, unknown fields included.
// Errors: invalid (broken; a kind that the schema does not have).
[[nodiscard]] Result<std::string> local_form(const ScopeKind& kind,
                                             std::optional<std::string_view> last,
                                             std::string_view object);

}  // namespace holdfast::sync
