// Limits callers that are nodes to a node's rights: applies the rules of upstream's Node authorizer
// and NodeRestriction (agent/lab/rules) to the objects of the registry.

#pragma once

#include <boost/json/object.hpp>

#include "agent/lab/apiserver/call.h"

namespace holdfast::agent::lab {

// Whether the caller may send the request. The Node authorizer decides about nodes, unless the
// server has disabled it. authorize() decides about all other callers; without tokens they
// may do everything.
[[nodiscard]] Answer<bool> authorize(const Backend& backend, const Identity& caller,
                                     const sync::objects::RequestInfo& info);

// Whether the caller may change `before` to `now`. `before` is null for a creation, `now` for a
// deletion. 403 if NodeRestriction forbids it to a node; true for all other callers.
[[nodiscard]] Answer<bool> admit_write(const Backend& backend, const Call& call,
                                       const boost::json::object* now,
                                       const boost::json::object* before);

}  // namespace holdfast::agent::lab
