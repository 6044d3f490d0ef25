// Refuses what callers may not do: applies the rules of upstream's Node authorizer, NodeRestriction
// and RBAC (agent/lab/rules) to the objects of the registry.

#pragma once

#include <boost/json/object.hpp>

#include "agent/lab/apiserver/call.h"
#include "agent/lab/rules/node_authorizer.h"

namespace holdfast::agent::lab {

// The objects in the registry that determine what belongs to a node.
[[nodiscard]] NodeObjects node_objects(const Registry& registry);

// Whether the caller may send the request, as decide() says; if not, the 403.
[[nodiscard]] Answer<bool> authorize(const Backend& backend, const Identity& caller,
                                     const sync::objects::RequestInfo& info);

// Whether the caller may change `before` to `now`. `before` is null for a creation, `now` for a
// deletion. 403 if NodeRestriction forbids it to a node, or if RBAC forbids it because the caller
// would grant rights that he does not have.
[[nodiscard]] Answer<bool> admit_write(const Backend& backend, const Call& call,
                                       const boost::json::object* now,
                                       const boost::json::object* before);

}  // namespace holdfast::agent::lab
