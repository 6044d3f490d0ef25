// The reviews that tell what a caller may do: `kubectl auth can-i` asks them.

#pragma once

#include <boost/json/object.hpp>

#include "agent/lab/apiserver/call.h"

namespace holdfast::agent::lab {

// The status of a SubjectAccessReview, LocalSubjectAccessReview or SelfSubjectAccessReview. 422 if
// its spec is wrong.
[[nodiscard]] Answer<boost::json::object> access_status(const Backend& backend, const Call& call,
                                                        const boost::json::object& asked);

// The status of a SelfSubjectRulesReview. 400 without a namespace.
[[nodiscard]] Answer<boost::json::object> rules_status(const Backend& backend, const Call& call,
                                                       const boost::json::object& asked);

}  // namespace holdfast::agent::lab
