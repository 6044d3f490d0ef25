// Decides about requests of all callers, and about changes of roles.

#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "agent/lab/apiserver/call.h"
#include "agent/lab/rules/rbac.h"

namespace holdfast::agent::lab {

// The roles and bindings in the registry, which outlives the result.
[[nodiscard]] RoleObjects role_objects(const Registry& registry);

struct Verdict {
  bool allowed = false;
  std::string reason = {};  // why, in upstream's words; may be empty
};

// Whether the caller may do what `info` says. The Node authorizer decides about nodes, RBAC about
// everybody; without either, tokens decide, and without tokens everything is allowed.
[[nodiscard]] Verdict decide(const Backend& backend, const Identity& caller,
                             const sync::objects::RequestInfo& info);

// Whether the caller may store this role or binding in place of `before` (null: as a new one).
// Nobody may grant rights that he does not have, unless the verb escalate or bind allows it: 403.
// 404 if a binding refers to a role that does not exist.
[[nodiscard]] Answer<bool> admit_role(const Backend& backend, const Call& call,
                                      const boost::json::object& now,
                                      const boost::json::object* before);

}  // namespace holdfast::agent::lab
