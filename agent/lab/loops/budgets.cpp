#include "agent/lab/loops/budgets.h"

#include <algorithm>
#include <boost/json.hpp>

#include "agent/lab/rules/matching.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {

namespace json = boost::json;

bool covers(const json::object& budget, const json::object& pod) {
  const json::value* selector = sync::wire::dig(budget, {"spec", "selector"});
  return selector != nullptr && selects_object(sync::wire::as_object(*selector), pod);
}

json::object budget_status(const json::object& budget, const Objects& pods, std::int64_t expected) {
  std::int64_t healthy = 0;
  for (const json::object* pod : pods) {
    if (covers(budget, *pod) && is_active(*pod) && is_ready(*pod)) ++healthy;
  }
  std::int64_t wanted = 0;
  if (const json::value* least = sync::wire::dig(budget, {"spec", "minAvailable"})) {
    wanted = scaled(least, expected, true);
  } else if (const json::value* down = sync::wire::dig(budget, {"spec", "maxUnavailable"})) {
    wanted = std::max<std::int64_t>(expected - scaled(down, expected, true), 0);
  }
  json::object status = sync::wire::dig_object(budget, {"status"});
  status.erase("disruptedPods");
  status["observedGeneration"] = sync::wire::dig_int(budget, {"metadata", "generation"});
  status["disruptionsAllowed"] = expected > 0 ? std::max<std::int64_t>(healthy - wanted, 0) : 0;
  status["currentHealthy"] = healthy;
  status["desiredHealthy"] = wanted;
  status["expectedPods"] = expected;
  return status;
}

EvictionDecision decide_eviction(const json::object& budget) {
  const std::int64_t observed = sync::wire::dig_int(budget, {"status", "observedGeneration"});
  if (observed < sync::wire::dig_int(budget, {"metadata", "generation"}))
    return EvictionDecision::outdated;
  const bool left = sync::wire::dig_int(budget, {"status", "disruptionsAllowed"}) > 0;
  return left ? EvictionDecision::allowed : EvictionDecision::exhausted;
}

json::object record_eviction(const json::object& budget, std::string_view pod,
                             std::string_view now) {
  json::object status = sync::wire::dig_object(budget, {"status"});
  status["disruptionsAllowed"] = sync::wire::dig_int(status, {"disruptionsAllowed"}) - 1;
  sync::wire::make_object(status, {"disruptedPods"})[pod] = now;
  return status;
}

}  // namespace holdfast::agent::lab
