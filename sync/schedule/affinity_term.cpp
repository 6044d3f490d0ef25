#include "sync/schedule/affinity_term.h"

#include <algorithm>

namespace holdfast::sync::schedule {
namespace {

void narrow(LabelSelector& selector, const std::vector<std::string>& keys, const char* op,
            const StringMap& owner) {
  for (const std::string& key : keys) {
    const std::string* value = owner.find(key);
    if (value != nullptr) selector.match_expressions.push_back({key, op, {*value}, {}});
  }
}

}  // namespace

bool AffinityTerm::matches(const Pod& pod, const Namespaces& labels) const {
  const std::string& its = pod.metadata.namespace_name;
  bool there = std::find(namespaces.begin(), namespaces.end(), its) != namespaces.end();
  if (!there && of_namespace) {
    const auto found = labels.find(its);
    there = of_namespace->matches(found == labels.end() ? StringMap() : found->second);
  }
  return there && pods.matches(pod.metadata.labels);
}

Result<objects::LabelQuery> compile_selector(const std::optional<LabelSelector>& selector,
                                             const std::vector<std::string>& same_labels,
                                             const std::vector<std::string>& other_labels,
                                             const StringMap& owner) {
  if (!selector) return objects::LabelQuery::nothing();
  if (same_labels.empty() && other_labels.empty()) return objects::LabelQuery::from(*selector);
  LabelSelector narrowed = *selector;
  narrow(narrowed, same_labels, "In", owner);
  narrow(narrowed, other_labels, "NotIn", owner);
  return objects::LabelQuery::from(narrowed);
}

Result<AffinityTerm> compile(const PodAffinityTerm& term, const ObjectMeta& owner) {
  AffinityTerm out;
  // The API server has merged the label keys into the selector already. Doing it again is harmless.
  auto pods = compile_selector(term.label_selector, term.match_label_keys, term.mismatch_label_keys,
                               owner.labels);
  if (!pods) return fail("labelSelector", pods.error());
  out.pods = std::move(*pods);
  out.namespaces = term.namespaces;
  if (term.namespace_selector) {
    auto namespaces = objects::LabelQuery::from(*term.namespace_selector);
    if (!namespaces) return fail("namespaceSelector", namespaces.error());
    out.of_namespace = std::move(*namespaces);
  }
  if (out.namespaces.empty() && !out.of_namespace) out.namespaces.push_back(owner.namespace_name);
  out.topology_key = term.topology_key;
  return out;
}

}  // namespace holdfast::sync::schedule
