// The roles and bindings that a cluster has from the beginning: those of Kubernetes 1.36, which
// default_roles.txt and default_controller_roles.txt contain.

#pragma once

#include <boost/json/object.hpp>
#include <vector>

namespace holdfast::agent::lab {

// New objects with kind, apiVersion and name; those in a namespace also name it.
[[nodiscard]] std::vector<boost::json::object> default_roles();

// The role with the default's rules that it lacks; others stay. As upstream, a role whose
// annotation rbac.authorization.kubernetes.io/autoupdate is "false" is returned as it is.
[[nodiscard]] boost::json::object with_default_rules(boost::json::object role,
                                                     const boost::json::object& by_default);

}  // namespace holdfast::agent::lab
