// Converts between the bodies that clients send and receive, in JSON or protobuf, and the JSON that
// apply_local_write() works on.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "platform/result.h"
#include "sync/watch/cached_form.h"

namespace holdfast::sync::autonomy {

// The body of a request or answer as JSON. Errors: invalid (broken protobuf, or a kind that the
// schema does not have).
[[nodiscard]] Result<std::string> body_as_json(std::string body);

// The JSON of an object as a body in `encoding`. Errors: as in_encoding().
[[nodiscard]] Result<std::string> body_in(wire::Encoding encoding, std::string json);

// Converts `object`, the JSON of a whole object, to the form that a scope of this kind keeps.
// `last` is the object that the scope has now; fields that the write did not change keep its bytes,
// unknown fields included. Errors: invalid (broken, or a kind that the schema does not have).
[[nodiscard]] Result<std::string> local_form(const wire::ScopeKind& kind,
                                             std::optional<std::string_view> last,
                                             std::string_view object);

}  // namespace holdfast::sync::autonomy
