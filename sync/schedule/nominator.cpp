#include "sync/schedule/nominator.h"

#include <algorithm>

namespace holdfast::sync::schedule {

void Nominator::add(const PodRef& pod, const Nomination& nomination) {
  remove(pod->uid());
  const std::string& node = nomination ? *nomination : pod->pod->status.nominated_node_name;
  if (node.empty() || !pod->node().empty()) return;
  nodes_[pod->uid()] = node;
  pods_[node].push_back(pod);
}

void Nominator::update(const PodRef& before, const PodRef& after) {
  const bool silent = before->pod->status.nominated_node_name.empty() &&
                      after->pod->status.nominated_node_name.empty();
  const std::string remembered = node_of(before->uid());
  remove(before->uid());
  if (silent && !remembered.empty()) {
    add(after, remembered);
  } else {
    add(after);
  }
}

void Nominator::remove(const std::string& uid) {
  const auto at = nodes_.find(uid);
  if (at == nodes_.end()) return;
  const auto list = pods_.find(at->second);
  std::erase_if(list->second, [&uid](const PodRef& pod) { return pod->uid() == uid; });
  if (list->second.empty()) pods_.erase(list);
  nodes_.erase(at);
}

std::span<const PodRef> Nominator::on(std::string_view node) const {
  const auto at = pods_.find(node);
  return at == pods_.end() ? std::span<const PodRef>() : std::span<const PodRef>(at->second);
}

std::string Nominator::node_of(const std::string& uid) const {
  const auto at = nodes_.find(uid);
  return at == nodes_.end() ? std::string() : at->second;
}

std::vector<PodRef> Nominator::below(std::string_view node, const PodView& pod) const {
  std::vector<PodRef> lower;
  for (const PodRef& other : on(node)) {
    if (other->priority < pod.priority) lower.push_back(other);
  }
  return lower;
}

}  // namespace holdfast::sync::schedule
