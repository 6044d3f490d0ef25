// The objects that a StatefulSet consists of: revisions, pods and claims. Private to stateful*.cpp.

#pragma once

#include <boost/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "agent/lab/loops/stateful.h"

namespace holdfast::agent::lab {

// The revisions that matter now. `current` is what pods were before the latest change; without a
// change it is `update`.
struct SetRevisions {
  boost::json::object current;  // ControllerRevisions
  boost::json::object update;
  std::int64_t collisions = 0;  // names that were taken by other revisions
};

// Finds the revision of the set's template among `existing`, or plans to create it.
[[nodiscard]] SetRevisions find_revisions(const boost::json::object& set, Objects existing,
                                          StatefulPlan& plan);

// Plans to remove the oldest revisions beyond the limit. Those of pods are kept.
void trim_revisions(const boost::json::object& set, Objects existing, const Objects& pods,
                    const SetRevisions& revisions, StatefulPlan& plan);

// The first ordinal of the set.
[[nodiscard]] std::int64_t first_ordinal(const boost::json::object& set);

// The revision that a pod was made from.
[[nodiscard]] std::string_view revision_of_pod(const boost::json::object& pod);

// The pod of one ordinal, made from the revision's template.
[[nodiscard]] boost::json::object stateful_pod(const boost::json::object& set,
                                               const boost::json::object& revision,
                                               std::int64_t ordinal);

// The claims of one ordinal.
[[nodiscard]] std::vector<boost::json::object> claims_of(const boost::json::object& set,
                                                         std::int64_t ordinal);

// The owners that an existing claim should have; none if it has them. `pod` is the pod of its
// ordinal, `condemned` whether the set no longer wants it.
[[nodiscard]] std::optional<boost::json::array> claim_owners(const boost::json::object& set,
                                                             const boost::json::object& pod,
                                                             const boost::json::object& claim,
                                                             bool condemned);

}  // namespace holdfast::agent::lab
