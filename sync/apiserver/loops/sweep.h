// What is left over and may go: pods of nodes that are no more, things whose owners are gone,
// finished pods beyond a limit.

#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "sync/apiserver/loops/replicas.h"

namespace holdfast::sync {

enum class Sweep : std::uint8_t {
  keep,
  remove,  // delete as a client would
  force,   // delete at once: nobody is there to end it
};

using Names = std::set<std::string, std::less<>>;

// `nodes` are the names of all nodes.
[[nodiscard]] Sweep sweep_pod(const boost::json::object& pod, const Names& nodes);

// Whether every owner of `object` is gone. `uids` are those of all objects there are; an object
// without owners is never garbage.
[[nodiscard]] bool is_orphan(const boost::json::object& object, const Names& uids);

// Of the finished pods without an owner's eye on them, the oldest beyond `keep`.
[[nodiscard]] Objects finished_beyond(const Objects& pods, std::size_t keep);

}  // namespace holdfast::sync
