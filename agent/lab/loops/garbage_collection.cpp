#include "agent/lab/loops/garbage_collection.h"

#include <algorithm>
#include <boost/json.hpp>

#include "agent/lab/rules/matching.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {

namespace json = boost::json;

PodGcAction pod_gc_action(const json::object& pod, const Names& nodes) {
  const std::string_view node = sync::wire::dig_text(pod, {"spec", "nodeName"});
  // Nobody would finish the deletion of a pod that was never bound to a node.
  if (node.empty()) return sync::wire::is_terminating(pod) ? PodGcAction::force : PodGcAction::keep;
  return nodes.contains(node) ? PodGcAction::keep : PodGcAction::force;
}

bool is_orphan(const json::object& object, const Names& uids) {
  const json::array& owners = sync::wire::dig_list(object, {"metadata", "ownerReferences"});
  if (owners.empty() || sync::wire::is_terminating(object)) return false;
  return std::none_of(owners.begin(), owners.end(), [&uids](const json::value& owner) {
    return uids.contains(sync::wire::dig_text(sync::wire::as_object(owner), {"uid"}));
  });
}

Objects finished_beyond(const Objects& pods, std::size_t keep) {
  Objects finished;
  for (const json::object* pod : pods) {
    if (is_finished(*pod) && !sync::wire::is_terminating(*pod)) finished.push_back(pod);
  }
  if (finished.size() <= keep) return {};
  std::sort(finished.begin(), finished.end(), [](const json::object* left, const auto* right) {
    return sync::wire::dig_text(*left, {"metadata", "creationTimestamp"}) <
           sync::wire::dig_text(*right, {"metadata", "creationTimestamp"});
  });
  finished.resize(finished.size() - keep);
  return finished;
}

}  // namespace holdfast::agent::lab
