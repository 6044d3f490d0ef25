// One required (anti-)affinity term of a pod, compiled for matching other pods.

#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sync/model/pod.h"
#include "sync/objects/selector.h"

namespace holdfast::sync::schedule {

// The labels of each known namespace.
using Namespaces = std::map<std::string, StringMap, std::less<>>;

struct AffinityTerm {
  objects::LabelQuery pods;
  std::vector<std::string> namespaces;              // pods in these namespaces match,
  std::optional<objects::LabelQuery> of_namespace;  // and pods in namespaces with such labels
  std::string topology_key;

  // Whether the term selects `pod`, on whatever node it runs.
  [[nodiscard]] bool matches(const Pod& pod, const Namespaces& labels) const;
};

// `owner` is the metadata of the pod that has the term. It gives the namespace if the term names
// none, and the values of matchLabelKeys and mismatchLabelKeys. Errors: invalid (a selector).
[[nodiscard]] Result<AffinityTerm> compile(const PodAffinityTerm& term, const ObjectMeta& owner);

// The selector, narrowed to pods that have the owner's values of `same_labels` and do not have its
// values of `other_labels`. Labels that the owner lacks are ignored. Without a selector no pod
// matches. Errors: invalid.
[[nodiscard]] Result<objects::LabelQuery> compile_selector(
    const std::optional<LabelSelector>& selector, const std::vector<std::string>& same_labels,
    const std::vector<std::string>& other_labels, const StringMap& owner);

}  // namespace holdfast::sync::schedule
