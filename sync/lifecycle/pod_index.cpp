#include "sync/lifecycle/pod_index.h"
#include "platform/check.h"

#include <algorithm>
#include <utility>

namespace holdfast::sync::lifecycle {

std::optional<PodFacts> PodIndex::set(PodFacts pod) {
  const std::string key = pod.key();
  std::optional<PodFacts> before = remove(key);
  auto owned = std::make_unique<const PodFacts>(std::move(pod));
  if (!owned->node.empty()) by_node_[owned->node].insert(owned.get());
  pods_.emplace(key, std::move(owned));
  return before;
}

std::optional<PodFacts> PodIndex::remove(const std::string& key) {
  const auto found = pods_.find(key);
  if (found == pods_.end()) return std::nullopt;
  const auto node = by_node_.find(found->second->node);
  if (node != by_node_.end()) {
    node->second.erase(found->second.get());
    if (node->second.empty()) by_node_.erase(node);
  }
  PodFacts before = *found->second;
  pods_.erase(found);
  return before;
}

const PodFacts* PodIndex::find(const std::string& key) const {
  const auto found = pods_.find(key);
  return found == pods_.end() ? nullptr : found->second.get();
}

std::vector<const PodFacts*> PodIndex::on_node(const std::string& node) const {
  const auto found = by_node_.find(node);
  if (found == by_node_.end()) return {};
  std::vector<const PodFacts*> pods(found->second.begin(), found->second.end());
  std::sort(pods.begin(), pods.end(), [](const PodFacts* left, const PodFacts* right) {
    return std::tie(left->namespace_name, left->name) <
           std::tie(right->namespace_name, right->name);
  });
  return pods;
}

void PodIndex::check_invariants() const {
  std::size_t assigned = 0;
  for (const auto& [key, pod] : pods_) {
    CHECK(pod->key() == key);
    if (pod->node.empty()) continue;
    ++assigned;
    CHECK(by_node_.at(pod->node).contains(pod.get()));
  }
  for (const auto& [node, pods] : by_node_) {
    CHECK(!pods.empty() && assigned >= pods.size());
    assigned -= pods.size();
  }
  CHECK(assigned == 0);
}

}  // namespace holdfast::sync::lifecycle
