// The pods of the cluster, indexed by name and by node. Not thread-safe.

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "sync/lifecycle/facts.h"

namespace holdfast::sync::lifecycle {

class PodIndex {
 public:
  // Adds or replaces a pod. Returns the previous one of that name.
  std::optional<PodFacts> set(PodFacts pod);
  std::optional<PodFacts> remove(const std::string& key);

  // By PodFacts::key(); nullptr if there is none. Borrowed until that pod changes.
  [[nodiscard]] const PodFacts* find(const std::string& key) const;

  // Sorted by key. Borrowed until one of them changes.
  [[nodiscard]] std::vector<const PodFacts*> on_node(const std::string& node) const;

  [[nodiscard]] std::size_t size() const { return pods_.size(); }

  // For tests: both indexes have the same pods.
  void check_invariants() const;

 private:
  std::unordered_map<std::string, std::unique_ptr<const PodFacts>> pods_;
  std::unordered_map<std::string, std::unordered_set<const PodFacts*>> by_node_;
};

}  // namespace holdfast::sync::lifecycle
