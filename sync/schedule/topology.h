// The topology domains of a node label: each distinct value of one key gets a number, by which pods
// are counted.

#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sync/schedule/cluster.h"

namespace holdfast::sync::schedule {

// The domains of one label key over the nodes of a cluster. Construction is O(nodes). Valid until
// the set of nodes changes.
class Domains {
 public:
  static constexpr int none = -1;

  Domains(const Cluster& cluster, std::string_view key);

  // The domain of a node, or `none` if it lacks the label.
  [[nodiscard]] int of(const NodeView& node) const { return by_position_[node.position]; }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  std::vector<int> by_position_;
  std::size_t size_ = 0;
};

}  // namespace holdfast::sync::schedule
