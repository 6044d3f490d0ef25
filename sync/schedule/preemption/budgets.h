// PodDisruptionBudgets as preemption uses them: who among possible victims is protected?
//
// Preemption breaks a budget when there is no other way; budgets only say who is spared first and
// which node is taken.

#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "sync/model/workload.h"
#include "sync/objects/selector.h"
#include "sync/schedule/pod_view.h"

namespace holdfast::sync::schedule {

struct Budget {
  std::string namespace_name;
  objects::LabelQuery pods;  // nothing when the selector is missing, empty or broken
  std::int32_t allowed = 0;
  std::vector<std::string> disrupted;  // names of pods that are being evicted; sorted
  std::string problem;                 // what is broken; such a budget protects nobody
};

// A selector that is missing or empty protects nobody here, other than in the eviction API.
[[nodiscard]] Budget compile(const PodDisruptionBudget& budget);

class Budgets {
 public:
  Budgets() = default;
  explicit Budgets(const std::vector<PodDisruptionBudget>& budgets);

  struct Split {
    std::vector<PodRef> violating;
    std::vector<PodRef> sparing;
  };
  // Splits `pods`, the most important one first, and keeps their order. Every budget that means a
  // pod is charged for it. O(pods * budgets of their namespaces).
  void split(std::span<const PodRef> pods, Split& out) const;

  // One line for each budget that cannot be read.
  [[nodiscard]] std::vector<std::string> problems() const;

 private:
  [[nodiscard]] bool charge(const PodView& pod, std::map<const Budget*, std::int32_t>& left) const;

  std::map<std::string, std::vector<Budget>, std::less<>> budgets_;  // by namespace
};

}  // namespace holdfast::sync::schedule
