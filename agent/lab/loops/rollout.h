// The Deployment controller: which ReplicaSet has the current template, how many replicas each set
// has during a rollout, and the status.

#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/lab/loops/replicas.h"
#include "platform/time.h"

namespace holdfast::agent::lab {

struct RolloutPlan {
  std::optional<boost::json::object> create;   // the ReplicaSet of the current template
  std::map<std::string, std::int64_t> resize;  // replicas by name of ReplicaSet
  std::vector<std::string> remove;             // old empty sets over the history limit
  boost::json::object status;
  std::int64_t revision = 0;  // of the current template; annotated on Deployment and ReplicaSet

  bool operator==(const RolloutPlan&) const = default;
};

// `sets` are the ReplicaSets that the deployment controls.
[[nodiscard]] RolloutPlan plan_rollout(const boost::json::object& deployment, const Objects& sets,
                                       WallTime now);

// The value of the label pod-template-hash: the same for equal templates.
[[nodiscard]] std::string template_hash(const boost::json::object& deployment);

inline constexpr std::string_view hash_label = "pod-template-hash";
inline constexpr std::string_view revision_note = "deployment.kubernetes.io/revision";

}  // namespace holdfast::agent::lab
