// ClusterRoles that collect the rules of others, such as admin, edit and view.

#pragma once

#include <boost/json/object.hpp>
#include <optional>

#include "agent/lab/loops/replicas.h"

namespace holdfast::agent::lab {

// The rules that the role should have: those of all other roles that its selectors match, by name,
// each once. None if it collects nothing or has them already.
[[nodiscard]] std::optional<boost::json::array> aggregated_rules(const boost::json::object& role,
                                                                 const Objects& all_roles);

}  // namespace holdfast::agent::lab
