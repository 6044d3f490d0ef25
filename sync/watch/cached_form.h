// The form in which objects are cached, and the bodies and watch frames that are made from it.
//
// An object keeps the encoding and the bytes in which its scope received it. JSON is kept as a list
// item: without kind and apiVersion, except that a custom resource keeps both, because its kind may
// differ from its list's. Protobuf is kept in its envelope. So an unchanged object reaches clients
// byte by byte as the API server wrote it. Pure.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "platform/result.h"
#include "sync/objects/version.h"
#include "sync/watch/body.h"
#include "sync/wire/encoding.h"

namespace holdfast::sync::watch {

// The encoding of a cached object.
[[nodiscard]] wire::Encoding encoding_of(std::string_view cached);

// Converts a whole object, as an event or an answer contains it, to the cached form. List items
// already have this form. Errors: invalid (broken JSON).
[[nodiscard]] Result<std::string> cached_form(std::string object);

// Converts a cached object to the encoding of `kind`. Errors: invalid (broken, or a kind that the
// schema does not have).
[[nodiscard]] Result<std::string> in_encoding(const wire::ScopeKind& kind, std::string cached);

// Bodies of answers in the form that an API server writes. `cached` objects must have the encoding
// of `kind`.
[[nodiscard]] std::string object_body(const wire::ScopeKind& kind, std::string_view cached);

enum class EventType : std::uint8_t { added, modified, deleted };

[[nodiscard]] std::string_view to_string(EventType type);  // "ADDED"

// One frame of a watch stream.
[[nodiscard]] std::string event_frame(const wire::ScopeKind& kind, EventType type,
                                      std::string_view cached);
// An ERROR frame. `status_json` is a Status.
[[nodiscard]] std::string error_frame(const wire::ScopeKind& kind, std::string_view status_json);
[[nodiscard]] std::string bookmark_frame(const wire::ScopeKind& kind, objects::Version version,
                                         bool end_of_initial_events);

// The object with another metadata.resourceVersion. Errors: invalid (broken, or without metadata).
[[nodiscard]] Result<std::string> with_version(std::string_view cached, objects::Version version);

// A cached object as JSON, for display and for rules. Protobuf fields that the schema does not have
// are missing. Errors: invalid (broken, or a kind that the schema does not have).
[[nodiscard]] Result<std::string> cached_json(const wire::ScopeKind& kind, std::string_view cached);
// The same. Errors: also those of Body::load().
[[nodiscard]] Result<std::string> cached_json(const wire::ScopeKind& kind, const Body& cached);

}  // namespace holdfast::sync::watch
