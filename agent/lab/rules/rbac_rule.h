// One rule of a role (a PolicyRule): what it allows, and whether rules cover others.

#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "sync/objects/request_info.h"

namespace holdfast::agent::lab {

// Whether the rule allows the request.
[[nodiscard]] bool rule_allows(const boost::json::object& rule,
                               const sync::objects::RequestInfo& info);

// What `wanted` allows and `held` does not, as upstream prints it: sorted, one text per resource.
// Empty if `held` covers `wanted`.
[[nodiscard]] std::vector<std::string> missing_rights(
    const std::vector<boost::json::object>& held, const std::vector<boost::json::object>& wanted);

// The rule that allows everything with resources, and the one for all other paths.
[[nodiscard]] std::vector<boost::json::object> full_authority();

}  // namespace holdfast::agent::lab
