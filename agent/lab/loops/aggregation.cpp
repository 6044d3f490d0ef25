#include "agent/lab/loops/aggregation.h"

#include <algorithm>
#include <boost/json.hpp>

#include "agent/lab/rules/matching.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {

namespace json = boost::json;

std::optional<json::array> aggregated_rules(const json::object& role, const Objects& all_roles) {
  const json::array& selectors =
      sync::wire::dig_list(role, {"aggregationRule", "clusterRoleSelectors"});
  if (selectors.empty()) return std::nullopt;
  Objects sorted = all_roles;
  std::sort(sorted.begin(), sorted.end(), [](const json::object* left, const json::object* right) {
    return sync::wire::name_of(*left) < sync::wire::name_of(*right);
  });
  json::array rules;
  for (const json::value& selector : selectors) {
    for (const json::object* other : sorted) {
      if (sync::wire::name_of(*other) == sync::wire::name_of(role)) continue;
      if (!selects_object(sync::wire::as_object(selector), *other)) continue;
      for (const json::value& rule : sync::wire::dig_list(*other, {"rules"})) {
        if (std::find(rules.begin(), rules.end(), rule) == rules.end()) rules.push_back(rule);
      }
    }
  }
  if (rules == sync::wire::dig_list(role, {"rules"})) return std::nullopt;
  return rules;
}

}  // namespace holdfast::agent::lab
