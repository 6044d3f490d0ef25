// Garbage collection: pods of deleted nodes, objects whose owners are gone, and finished pods over
// a limit.

#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "agent/lab/loops/replicas.h"

namespace holdfast::agent::lab {

enum class PodGcAction : std::uint8_t {
  keep,
  remove,  // delete as a client would
  force,   // delete immediately: no kubelet will end the pod
};

using Names = std::set<std::string, std::less<>>;

// `nodes` are the names of all nodes.
[[nodiscard]] PodGcAction pod_gc_action(const boost::json::object& pod, const Names& nodes);

// Whether every owner of `object` is gone. `uids` are the uids of all existing objects. An object
// without owners is never an orphan.
[[nodiscard]] bool is_orphan(const boost::json::object& object, const Names& uids);

// The oldest finished pods, except for the newest `keep`. Pods that are already being deleted do
// not count.
[[nodiscard]] Objects finished_beyond(const Objects& pods, std::size_t keep);

}  // namespace holdfast::agent::lab
