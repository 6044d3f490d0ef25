// The Kubernetes objects that a scenario's workloads become in a real cluster.

#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/lab/guest/guest.h"
#include "agent/lab/scenario/scenario.h"

namespace holdfast::agent::lab::run {

struct ApiObject {
  std::string collection;  // "/apis/apps/v1/namespaces/default/deployments"
  std::string name;
  std::string body;  // JSON
};

// Namespaces, priority classes, budgets and the workloads that are not from a manifest, in the
// order in which they must be created. Jobs come last: they begin to run with the scenario.
// `default_toleration` is what pods without tolerations of their own get, in seconds.
//
// In a cluster of others, namespaces are already called as they are there; pods run on the run's
// nodes only, and priority classes have names and marks of the run.
[[nodiscard]] std::vector<ApiObject> objects_of(const Scenario& scenario,
                                                std::int64_t default_toleration,
                                                const std::optional<guest::Guest>& guest = {});

// The namespaces of a run in a cluster of others, with its marks: "default", those of the workloads
// and those of the manifests, all given with the scenario's names.
[[nodiscard]] std::vector<ApiObject> guest_namespaces(const std::set<std::string>& names,
                                                      const guest::Guest& guest);

}  // namespace holdfast::agent::lab::run
