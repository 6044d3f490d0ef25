// The ReplicaSet controller: how many pods to create, which to remove, and the status.

#pragma once

#include <boost/json/object.hpp>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::agent::lab {

using Objects = std::vector<const boost::json::object*>;

struct ReplicaPlan {
  std::size_t create = 0;
  std::vector<std::string> remove;  // names of pods
  boost::json::object status;       // what the set's status should be

  bool operator==(const ReplicaPlan&) const = default;
};

// `pods` are the pods in the set's namespace that it controls. At most `burst` pods are created or
// removed per call.
[[nodiscard]] ReplicaPlan plan_replicas(const boost::json::object& set, const Objects& pods,
                                        std::size_t burst = 50);

// Sorts pods in the order in which surplus ones are removed: first those without a node, then those
// that do not run, then those that are not ready, then the newest.
void sort_for_removal(Objects& pods);

// A pod of `owner` (a ReplicaSet, DaemonSet or Job) from its template, with an owner reference and
// a generated name.
[[nodiscard]] boost::json::object pod_of(const boost::json::object& owner);

// An owner reference that names `owner` as the controller.
[[nodiscard]] boost::json::object controller_reference(const boost::json::object& owner);

}  // namespace holdfast::agent::lab
