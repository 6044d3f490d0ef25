// The StatefulSet controller: pods with stable names, created, replaced and removed in order.
//
// A pod is only replaced when the old one is gone, so that there are never two of one ordinal.

#pragma once

#include <boost/json/object.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/lab/loops/replicas.h"
#include "platform/time.h"

namespace holdfast::agent::lab {

inline constexpr std::string_view set_revision_label = "controller-revision-hash";

struct StatefulPlan {
  std::optional<boost::json::object> create_revision;  // a ControllerRevision
  std::map<std::string, std::int64_t> renumber;        // ControllerRevisions, for a way back
  std::vector<std::string> remove_revisions;
  std::vector<boost::json::object> create_claims;  // PersistentVolumeClaims
  // New owners of claims, by name, as the set's persistentVolumeClaimRetentionPolicy demands.
  std::map<std::string, boost::json::array> own_claims;
  std::vector<boost::json::object> create;  // pods
  std::vector<std::string> remove;          // names of pods
  boost::json::object status;
  std::optional<WallTime> again;  // when to plan again if nothing changes until then
};

// What the set has: all of its namespace that it controls; of the claims, all of the namespace.
struct StatefulParts {
  Objects pods = {};
  Objects revisions = {};
  Objects claims = {};
};

// At most `burst` pods are created per plan.
[[nodiscard]] StatefulPlan plan_stateful_set(const boost::json::object& set,
                                             const StatefulParts& parts, WallTime now,
                                             std::size_t burst = 500);

// The ordinal at the end of a pod's name; -1 if there is none.
[[nodiscard]] std::int64_t ordinal_of(const boost::json::object& pod);

}  // namespace holdfast::agent::lab
