// The preempt verb of extenders on the wire: a JSON body each way, POSTed to the extender's URL.
//
// Field names are capitalised, as upstream's types have no tags; in answers their case is nothing.

#pragma once

#include <string>
#include <string_view>

#include "sync/schedule/preemption/extenders.h"
#include "sync/wire/json.h"

namespace holdfast::sync::schedule {

// The victims as whole pods, or by uid when the extender keeps its own cache.
[[nodiscard]] std::string preempt_request(const ExtenderSettings& extender, const Pod& pod,
                                          const std::vector<Candidate>& candidates);

// Errors: invalid, naming what is wrong and where.
[[nodiscard]] Result<ExtenderAnswer> read_preempt_answer(std::string_view body);

// A field of an answer as Go reads it: whatever the case of its letters. nullptr: missing, or null.
[[nodiscard]] const json::value* extender_field(const json::object& object, std::string_view name);

// Where to send it: the URL without its last slashes, and the verb.
[[nodiscard]] std::string extender_url(std::string_view prefix, std::string_view verb);

}  // namespace holdfast::sync::schedule
