#include "sync/schedule/node_matcher.h"

#include <algorithm>

#include "sync/objects/label_parser.h"

namespace holdfast::sync::schedule {
namespace {

using Operator = objects::LabelRequirement::Operator;

std::optional<Operator> operator_of(const std::string& name) {
  if (name == "In") return Operator::in;
  if (name == "NotIn") return Operator::not_in;
  if (name == "Exists") return Operator::exists;
  if (name == "DoesNotExist") return Operator::not_exists;
  if (name == "Gt") return Operator::greater;
  if (name == "Lt") return Operator::less;
  return std::nullopt;
}

}  // namespace

NodeTerm::NodeTerm(const NodeSelectorTerm& term) {
  nothing_ = term.match_expressions.empty() && term.match_fields.empty();
  for (const NodeSelectorRequirement& each : term.match_expressions) {
    const auto op = operator_of(each.operator_name);
    auto made = op ? objects::make_requirement(each.key, *op, each.values)
                   : Result<objects::LabelRequirement>(fail(Errc::invalid, "unknown operator"));
    if (made) {
      labels_.push_back(std::move(*made));
    } else {
      nothing_ = true;
    }
  }
  for (const NodeSelectorRequirement& each : term.match_fields) {
    const bool known = each.operator_name == "In" || each.operator_name == "NotIn";
    if (each.key == "metadata.name" && known && each.values.size() == 1) {
      names_.push_back({each.values.front(), each.operator_name == "In"});
    } else {
      nothing_ = true;
    }
  }
}

bool NodeTerm::matches(const Node& node) const {
  if (nothing_) return false;
  for (const NameRule& rule : names_) {
    if ((rule.name == node.metadata.name) != rule.equal) return false;
  }
  return std::all_of(labels_.begin(), labels_.end(),
                     [&node](const objects::LabelRequirement& each) {
                       return each.matches(node.metadata.labels);
                     });
}

std::optional<std::vector<std::string>> NodeTerm::names() const {
  std::optional<std::vector<std::string>> out;
  for (const NameRule& rule : names_) {
    if (!rule.equal) continue;
    if (out && *out != std::vector{rule.name}) return std::vector<std::string>();
    out = {rule.name};
  }
  return out;
}

NodeMatcher::NodeMatcher(const PodSpec& spec) : selector_(spec.node_selector) {
  const Boxed<Affinity>& affinity = spec.affinity;
  if (!affinity || !affinity->node_affinity || !affinity->node_affinity->required) return;
  terms_.emplace();
  for (const NodeSelectorTerm& term : affinity->node_affinity->required->node_selector_terms) {
    terms_->emplace_back(term);
  }
}

bool NodeMatcher::matches(const Node& node) const {
  for (const auto& [key, value] : selector_) {
    const std::string* found = node.metadata.labels.find(key);
    if (found == nullptr || *found != value) return false;
  }
  if (!terms_) return true;
  return std::any_of(terms_->begin(), terms_->end(),
                     [&node](const NodeTerm& term) { return term.matches(node); });
}

std::optional<std::vector<std::string>> NodeMatcher::names() const {
  if (!terms_ || terms_->empty()) return std::nullopt;
  std::vector<std::string> all;
  for (const NodeTerm& term : *terms_) {
    const auto names = term.names();
    if (!names) return std::nullopt;
    all.insert(all.end(), names->begin(), names->end());
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

NodePreference::NodePreference(const PodSpec& spec) {
  const Boxed<Affinity>& affinity = spec.affinity;
  if (!affinity || !affinity->node_affinity) return;
  for (const PreferredSchedulingTerm& term : affinity->node_affinity->preferred) {
    if (term.weight != 0) terms_.push_back({term.weight, NodeTerm(term.preference)});
  }
}

std::int64_t NodePreference::weight(const Node& node) const {
  std::int64_t sum = 0;
  for (const Weighted& each : terms_) {
    if (each.term.matches(node)) sum += each.weight;
  }
  return sum;
}

}  // namespace holdfast::sync::schedule
