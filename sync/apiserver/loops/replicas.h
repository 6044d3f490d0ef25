// What a ReplicaSet does: how many pods to make, which to remove, what to report.

#pragma once

#include <boost/json/object.hpp>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::sync {

using Objects = std::vector<const boost::json::object*>;

struct ReplicaPlan {
  std::size_t create = 0;
  std::vector<std::string> remove;  // names of pods
  boost::json::object status;       // what the set's status should be

  bool operator==(const ReplicaPlan&) const = default;
};

// `pods` are those of the set's namespace that it controls. At most `burst` are made or removed at
// once.
[[nodiscard]] ReplicaPlan plan_replicas(const boost::json::object& set, const Objects& pods,
                                        std::size_t burst = 50);

// The pod that `owner` (a ReplicaSet or DaemonSet) makes: from its template, owned by it, its name
// to be generated.
[[nodiscard]] boost::json::object pod_of(const boost::json::object& owner);

// An owner reference to `owner` as its controller.
[[nodiscard]] boost::json::object controller_reference(const boost::json::object& owner);

}  // namespace holdfast::sync
