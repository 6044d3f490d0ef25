// PodDisruptionBudgets as preemption uses them: which possible victims are protected.
//
// Preemption may violate a budget if there is no other way. Budgets only influence which pods are
// spared first and which node is chosen.

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
  objects::LabelQuery pods;  // matches no pod if the selector is missing, empty or invalid
  std::int32_t allowed = 0;  // status.disruptionsAllowed
  std::vector<std::string> disrupted;  // names of pods that are being evicted; sorted
  std::string problem;                 // why the selector is invalid; such a budget protects no pod
};

// As in upstream's preemption, and unlike in the eviction API, a missing or empty selector protects
// no pod.
[[nodiscard]] Budget compile(const PodDisruptionBudget& budget);

class Budgets {
 public:
  Budgets() = default;
  explicit Budgets(const std::vector<PodDisruptionBudget>& budgets);

  struct Split {
    std::vector<PodRef> violating;  // pods whose eviction violates a budget
    std::vector<PodRef> sparing;    // the others
  };
  // Splits `pods`, which must be sorted by importance, and keeps their order. Each pod uses up one
  // disruption of every budget that selects it. O(pods * budgets of their namespaces).
  void split(std::span<const PodRef> pods, Split& out) const;

  // One line for each invalid budget.
  [[nodiscard]] std::vector<std::string> problems() const;

 private:
  [[nodiscard]] bool charge(const PodView& pod, std::map<const Budget*, std::int32_t>& left) const;

  std::map<std::string, std::vector<Budget>, std::less<>> budgets_;  // by namespace
};

}  // namespace holdfast::sync::schedule
