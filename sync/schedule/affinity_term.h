// One required (anti-)affinity term of a pod, compiled for matching other pods.

#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sync/model/pod.h"
#include "sync/objects/selector.h"

namespace holdfast::sync::schedule {

// Labels by namespace, as far as they are known.
using Namespaces = std::map<std::string, StringMap, std::less<>>;

struct AffinityTerm {
  objects::LabelQuery pods;
  std::vector<std::string> namespaces;              // of these,
  std::optional<objects::LabelQuery> of_namespace;  // or of those with such labels
  std::string topology_key;

  // Whether `pod` is meant, wherever it runs.
  [[nodiscard]] bool matches(const Pod& pod, const Namespaces& labels) const;
};

// `owner` gives the namespace when the term names none, and the values of matchLabelKeys.
// Errors: invalid (a selector).
[[nodiscard]] Result<AffinityTerm> compile(const PodAffinityTerm& term, const ObjectMeta& owner);

// The selector narrowed to pods with the owner's value of each of these labels; no selector
// matches no pod. Errors: invalid.
[[nodiscard]] Result<objects::LabelQuery> compile_selector(
    const std::optional<LabelSelector>& selector, const std::vector<std::string>& same_labels,
    const std::vector<std::string>& other_labels, const StringMap& owner);

}  // namespace holdfast::sync::schedule
