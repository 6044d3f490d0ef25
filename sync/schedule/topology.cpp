#include "sync/schedule/topology.h"

namespace holdfast::sync::schedule {

Domains::Domains(const Cluster& cluster, std::string_view key) {
  const auto& nodes = cluster.nodes();
  by_position_.assign(nodes.size(), none);
  std::unordered_map<std::string_view, int> numbers;
  for (const NodeView* node : nodes) {
    const std::string* value = node->labels().find(key);
    if (value == nullptr) continue;
    const auto at = numbers.emplace(*value, static_cast<int>(numbers.size())).first;
    by_position_[node->position] = at->second;
  }
  size_ = numbers.size();
}

}  // namespace holdfast::sync::schedule
