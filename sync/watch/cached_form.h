// The form in which a scope's objects are cached, and what is answered from it.
//
// An object is kept in the encoding that its scope was received in, with the bytes it came in: JSON
// as an item of a list (without kind and apiVersion, but a custom resource with both: its kind need
// not be that of its list), protobuf in its envelope. So an object that was not changed travels on
// as the API server wrote it.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "platform/result.h"
#include "sync/api/version.h"
#include "sync/watch/encoding.h"

namespace holdfast::sync {

// Of a cached object.
[[nodiscard]] Encoding encoding_of(std::string_view cached);

// A whole object, as an event or an answer has it, in the form that is kept. Items of lists have
// it already. Errors: invalid (broken JSON).
[[nodiscard]] Result<std::string> cached_form(std::string object);

// The same object in another encoding. Errors: invalid (broken; a kind that the schema does not
// have).
[[nodiscard]] Result<std::string> in_encoding(const ScopeKind& kind, std::string cached);

// Bodies of answers, as an API server writes them. `cached` objects are of the scope's encoding.
[[nodiscard]] std::string object_body(const ScopeKind& kind, std::string_view cached);

struct ListPart {
  Version version = 0;
  std::string continue_token = {};  // "" on the last page
  std::optional<std::int64_t> remaining_item_count = {};
};
[[nodiscard]] std::string list_body(const ScopeKind& kind, const ListPart& part,
                                    std::span<const std::string_view> cached);

enum class EventType : std::uint8_t { added, modified, deleted };

[[nodiscard]] std::string_view to_string(EventType type);  // "ADDED"

// One frame of a watch stream.
[[nodiscard]] std::string event_frame(const ScopeKind& kind, EventType type,
                                      std::string_view cached);
// `status_json` is a Status.
[[nodiscard]] std::string error_frame(const ScopeKind& kind, std::string_view status_json);
[[nodiscard]] std::string bookmark_frame(const ScopeKind& kind, Version version,
                                         bool end_of_initial_events);

// The same object with another metadata.resourceVersion. Errors: invalid (broken, no metadata).
[[nodiscard]] Result<std::string> with_version(std::string_view cached, Version version);

// A cached object as JSON, for people and for rules; fields that the schema does not have are
// missing if it was protobuf. Errors: invalid (broken; a kind that the schema does not have).
[[nodiscard]] Result<std::string> cached_json(const ScopeKind& kind, std::string_view cached);

}  // namespace holdfast::sync
