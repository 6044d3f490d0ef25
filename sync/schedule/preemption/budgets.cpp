#include "sync/schedule/preemption/budgets.h"

#include <algorithm>

namespace holdfast::sync::schedule {

Budget compile(const PodDisruptionBudget& budget) {
  Budget out{budget.metadata.namespace_name,
             objects::LabelQuery::nothing(),
             budget.status.disruptions_allowed,
             {},
             {}};
  for (const auto& [name, since] : budget.status.disrupted_pods) out.disrupted.push_back(name);
  if (!budget.spec.selector) return out;
  auto pods = objects::LabelQuery::from(*budget.spec.selector);
  if (!pods) {
    out.problem = "PodDisruptionBudget " + budget.metadata.namespace_name + "/" +
                  budget.metadata.name + ": spec.selector: " + pods.error().what;
  } else if (!pods->matches_everything()) {
    out.pods = std::move(*pods);
  }
  return out;
}

Budgets::Budgets(const std::vector<PodDisruptionBudget>& budgets) {
  for (const PodDisruptionBudget& budget : budgets) {
    budgets_[budget.metadata.namespace_name].push_back(compile(budget));
  }
}

bool Budgets::charge(const PodView& pod, std::map<const Budget*, std::int32_t>& left) const {
  const StringMap& labels = pod.pod->metadata.labels;
  const auto list = budgets_.find(pod.namespace_name());
  if (labels.empty() || list == budgets_.end()) return false;
  bool violates = false;
  for (const Budget& budget : list->second) {
    if (!budget.pods.matches(labels)) continue;
    if (std::binary_search(budget.disrupted.begin(), budget.disrupted.end(), pod.name())) continue;
    const auto at = left.emplace(&budget, budget.allowed).first;
    violates = --at->second < 0 || violates;
  }
  return violates;
}

void Budgets::split(std::span<const PodRef> pods, Split& out) const {
  out.violating.clear();
  out.sparing.clear();
  if (budgets_.empty()) {
    out.sparing.assign(pods.begin(), pods.end());
    return;
  }
  std::map<const Budget*, std::int32_t> left;
  for (const PodRef& pod : pods) (charge(*pod, left) ? out.violating : out.sparing).push_back(pod);
}

std::vector<std::string> Budgets::problems() const {
  std::vector<std::string> lines;
  for (const auto& [name, budgets] : budgets_) {
    for (const Budget& budget : budgets) {
      if (!budget.problem.empty()) lines.push_back(budget.problem);
    }
  }
  return lines;
}

}  // namespace holdfast::sync::schedule
