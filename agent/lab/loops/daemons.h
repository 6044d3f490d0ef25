// The DaemonSet controller: one pod on every node that matches.

#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "agent/lab/loops/replicas.h"

namespace holdfast::agent::lab {

struct DaemonPlan {
  std::vector<std::string> create_on;  // names of nodes
  std::vector<std::string> remove;     // names of pods
  boost::json::object status;

  bool operator==(const DaemonPlan&) const = default;
};

// `pods` are the pods in the set's namespace that it controls; `nodes` are all nodes.
[[nodiscard]] DaemonPlan plan_daemons(const boost::json::object& set, const Objects& pods,
                                      const Objects& nodes);

// The pod for one node: bound to it by node affinity, with the tolerations of all DaemonSet pods.
[[nodiscard]] boost::json::object daemon_pod(const boost::json::object& set, std::string_view node);

}  // namespace holdfast::agent::lab
