// PodDisruptionBudgets: their status, and whether they allow an eviction.

#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "agent/lab/loops/replicas.h"

namespace holdfast::agent::lab {

// The status that a budget should have. `pods` are the pods of its namespace. `expected` is the
// number of pods that their controllers want, for percentages and maxUnavailable.
[[nodiscard]] boost::json::object budget_status(const boost::json::object& budget,
                                                const Objects& pods, std::int64_t expected);

// Whether the budget covers the pod.
[[nodiscard]] bool covers(const boost::json::object& budget, const boost::json::object& pod);

enum class EvictionDecision : std::uint8_t { allowed, exhausted, outdated };

// Whether one more eviction is allowed. `outdated`: the status does not reflect the newest spec
// yet.
[[nodiscard]] EvictionDecision decide_eviction(const boost::json::object& budget);

// The status after one more eviction.
[[nodiscard]] boost::json::object record_eviction(const boost::json::object& budget,
                                                  std::string_view pod, std::string_view now);

}  // namespace holdfast::agent::lab
