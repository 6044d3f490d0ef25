// Requests of nodes: what the Node authorizer and NodeRestriction say of them, asked of what the
// registry has.

#pragma once

#include <boost/json/object.hpp>

#include "agent/lab/apiserver/call.h"

namespace holdfast::agent::lab {

// Whether the caller may send the request: a node by the Node authorizer, unless the server has it
// switched off; all others, and nodes without it, by sync::authorize(). A server without tokens
// lets the latter do everything.
[[nodiscard]] sync::Answer<bool> authorize(const Backend& backend, const sync::Identity& who,
                                           const sync::RequestInfo& info);

// Whether the caller may make `now` of `before` (null: of nothing, or to nothing). 403 of a node
// that NodeRestriction refuses; true for all others.
[[nodiscard]] sync::Answer<bool> admit_write(const Backend& backend, const Call& call,
                                             const boost::json::object* now,
                                             const boost::json::object* before);

}  // namespace holdfast::agent::lab
