#include "agent/lab/demo/cluster_snapshot.h"

#include <algorithm>

namespace holdfast::agent::demo {
namespace {

// Stores `seen` and returns whether it differs from `known` in anything but its time.
template <class T>
bool put(T& known, const T& seen) {
  T before = known;
  before.at = seen.at;
  const bool changed = before != seen;
  if (changed) known = seen;
  return changed;
}

}  // namespace

bool ClusterSnapshot::take(const LinkSeen& seen) { return put(links_[seen.node], seen); }
bool ClusterSnapshot::take(const NodeSeen& seen) { return put(nodes_[seen.name], seen); }
bool ClusterSnapshot::take(const PodSeen& seen) { return put(pods_[seen.uid], seen); }
bool ClusterSnapshot::take(const ReplicasSeen& seen) { return put(replicas_, seen); }

std::string ClusterSnapshot::link(const std::string& node) const {
  const auto found = links_.find(node);
  return found == links_.end() ? "" : found->second.state;
}

std::string ClusterSnapshot::ready(const std::string& node) const {
  const auto found = nodes_.find(node);
  return found == nodes_.end() ? "" : found->second.ready;
}

bool ClusterSnapshot::tainted(const std::string& node, const std::string& ending) const {
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) return false;
  const auto& taints = found->second.taints;
  return std::any_of(taints.begin(), taints.end(),
                     [&ending](const std::string& taint) { return taint.ends_with(ending); });
}

std::vector<PodSeen> ClusterSnapshot::on(const std::string& node, const std::string& owner) const {
  std::vector<PodSeen> found;
  for (const auto& [uid, pod] : pods_) {
    if (pod.node == node && !pod.gone && (owner.empty() || pod.owner == owner)) {
      found.push_back(pod);
    }
  }
  return found;
}

std::int64_t ClusterSnapshot::running(const std::string& node, const std::string& owner) const {
  const auto pods = on(node, owner);
  return std::count_if(pods.begin(), pods.end(),
                       [](const PodSeen& pod) { return pod.ready && !pod.deleting; });
}

bool ClusterSnapshot::is_recovered(std::size_t nodes) const {
  if (nodes_.size() != nodes || links_.size() != nodes) return false;
  const bool links_well = std::all_of(links_.begin(), links_.end(), [](const auto& link) {
    return link.second.state == "connected" && link.second.outbox == 0;
  });
  const bool nodes_well = std::all_of(nodes_.begin(), nodes_.end(), [](const auto& node) {
    return node.second.ready == "True" && node.second.taints.empty();
  });
  return links_well && nodes_well;
}

}  // namespace holdfast::agent::demo
