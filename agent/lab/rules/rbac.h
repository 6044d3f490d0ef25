// Role-based access control: which rules apply to a caller, and whether they allow a request. With
// the words of upstream's RBAC authorizer.

#pragma once

#include <boost/json/object.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/lab/rules/identity.h"
#include "sync/objects/request_info.h"

namespace holdfast::agent::lab {

inline constexpr std::string_view rbac_group = "rbac.authorization.k8s.io";

// The stored roles and bindings.
struct RoleObjects {
  using Visit = std::function<void(const boost::json::object&)>;
  std::function<void(const Visit&)> cluster_bindings;                       // all
  std::function<void(std::string_view name_space, const Visit&)> bindings;  // of a namespace
  std::function<void(std::string_view name_space, std::string_view name, const Visit&)>
      role;  // the Role, or without a namespace the ClusterRole; not called if there is none
};

struct RbacDecision {
  bool allowed = false;
  std::string reason;  // what allows it; or problems that may be why it is not allowed, or ""
};

// Whether a role that is bound to the caller allows the request.
[[nodiscard]] RbacDecision decide_rbac(const Identity& caller,
                                       const sync::objects::RequestInfo& info,
                                       const RoleObjects& objects);

struct HeldRules {
  std::vector<boost::json::object> rules;  // PolicyRules
  std::vector<std::string> problems;       // roles that do not exist
};

// All rules that apply to the caller, in the namespace or, if it is "", outside of namespaces.
[[nodiscard]] HeldRules rules_of(const Identity& caller, std::string_view name_space,
                                 const RoleObjects& objects);

// The rules of the role that a binding in this namespace ("": a ClusterRoleBinding) refers to.
[[nodiscard]] HeldRules rules_of_reference(const boost::json::object& reference,
                                           std::string_view name_space, const RoleObjects& objects);

}  // namespace holdfast::agent::lab
