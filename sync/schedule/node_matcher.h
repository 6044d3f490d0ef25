// A pod's nodeSelector and node affinity, compiled for matching nodes.
//
// A term that is invalid or empty matches no node.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sync/model/node.h"
#include "sync/model/pod.h"
#include "sync/objects/selector.h"

namespace holdfast::sync::schedule {

class NodeTerm {
 public:
  explicit NodeTerm(const NodeSelectorTerm& term);

  [[nodiscard]] bool matches(const Node& node) const;
  // The only node names that can match, if the term has such a requirement; sorted. Empty if its
  // requirements contradict each other.
  [[nodiscard]] std::optional<std::vector<std::string>> names() const;

 private:
  struct NameRule {
    std::string name;
    bool equal;
  };

  std::vector<objects::LabelRequirement> labels_;
  std::vector<NameRule> names_;
  bool nothing_ = false;
};

class NodeMatcher {
 public:
  // Reads nodeSelector and the required node affinity.
  explicit NodeMatcher(const PodSpec& spec);

  [[nodiscard]] bool matches(const Node& node) const;
  [[nodiscard]] bool matches_all() const { return selector_.empty() && !terms_; }
  // The names of all terms, sorted; nullopt unless every term is restricted to names.
  [[nodiscard]] std::optional<std::vector<std::string>> names() const;

 private:
  StringMap selector_;
  std::optional<std::vector<NodeTerm>> terms_;
};

// The preferred node affinity: weight() sums the weights of the matching terms.
class NodePreference {
 public:
  explicit NodePreference(const PodSpec& spec);

  [[nodiscard]] bool empty() const { return terms_.empty(); }
  [[nodiscard]] std::int64_t weight(const Node& node) const;

 private:
  struct Weighted {
    std::int64_t weight;
    NodeTerm term;
  };
  std::vector<Weighted> terms_;
};

}  // namespace holdfast::sync::schedule
