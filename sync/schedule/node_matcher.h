// Which nodes a pod's nodeSelector and node affinity mean, compiled.
//
// A term that cannot be read matches no node; so does one without anything in it.

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
  // The names it is restricted to, if it is; sorted. More than one field may leave none.
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
  // The required part.
  explicit NodeMatcher(const PodSpec& spec);

  [[nodiscard]] bool matches(const Node& node) const;
  [[nodiscard]] bool matches_all() const { return selector_.empty() && !terms_; }
  // Set when every term names its nodes: those, sorted.
  [[nodiscard]] std::optional<std::vector<std::string>> names() const;

 private:
  StringMap selector_;
  std::optional<std::vector<NodeTerm>> terms_;
};

// The preferred part: the sum of the weights of the terms that match.
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
