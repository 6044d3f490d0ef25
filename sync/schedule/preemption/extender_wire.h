// The preempt verb of extenders: the JSON bodies of the request, which is POSTed to the extender's
// URL, and of the answer.
//
// Field names are capitalised, because upstream's Go types have no JSON tags. In answers their case
// is ignored.

#pragma once

#include <string>
#include <string_view>

#include "sync/schedule/preemption/extenders.h"
#include "sync/wire/json.h"

namespace holdfast::sync::schedule {

// The request. It contains the victims as whole pods, or only their uids if the extender is
// node_cache_capable.
[[nodiscard]] std::string preempt_request(const ExtenderSettings& extender, const Pod& pod,
                                          const std::vector<Candidate>& candidates);

// Errors: invalid, naming the field that is wrong.
[[nodiscard]] Result<ExtenderAnswer> read_preempt_answer(std::string_view body);

// A field of an answer, found without regard to case, as in Go. nullptr if it is missing or null.
[[nodiscard]] const json::value* extender_field(const json::object& object, std::string_view name);

// The URL of a request: the extender's URL without trailing slashes, and the verb.
[[nodiscard]] std::string extender_url(std::string_view prefix, std::string_view verb);

}  // namespace holdfast::sync::schedule
