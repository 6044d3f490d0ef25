// LabelQuery: matching, printing, and creation from objects. Parsing is in label_parser.cpp.

#include <algorithm>

#include "platform/check.h"
#include "platform/text.h"
#include "sync/objects/label_parser.h"
#include "sync/objects/selector.h"
#include "sync/wire/quote.h"

namespace holdfast::sync::objects {
namespace {

using Operator = LabelRequirement::Operator;

bool one_of(const std::vector<std::string>& values, std::string_view value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

// A comparison matches only if both sides are integers.
std::optional<std::int64_t> number(const std::string& text) {
  return parse_int<std::int64_t>(text);
}

std::string_view infix(Operator op) {
  switch (op) {
    case Operator::in:
      return " in ";
    case Operator::not_in:
      return " notin ";
    case Operator::equals:
      return "=";
    case Operator::double_equals:
      return "==";
    case Operator::not_equals:
      return "!=";
    case Operator::greater:
      return ">";
    case Operator::less:
      return "<";
    case Operator::exists:
    case Operator::not_exists:
      return "";
  }
  UNREACHABLE();
}

Result<Operator> selector_operator(const std::string& name) {
  if (name == "In") return Operator::in;
  if (name == "NotIn") return Operator::not_in;
  if (name == "Exists") return Operator::exists;
  if (name == "DoesNotExist") return Operator::not_exists;
  return fail(Errc::invalid, wire::quoted(name) + " is not a valid label selector operator");
}

void sort_by_key(std::vector<LabelRequirement>& requirements) {
  std::stable_sort(requirements.begin(), requirements.end(),
                   [](const auto& left, const auto& right) { return left.key < right.key; });
}

}  // namespace

bool LabelRequirement::matches(const StringMap& labels) const {
  const std::string* found = labels.find(key);
  switch (op) {
    case Operator::in:
    case Operator::equals:
    case Operator::double_equals:
      return found != nullptr && one_of(values, *found);
    case Operator::not_in:
    case Operator::not_equals:
      return found == nullptr || !one_of(values, *found);
    case Operator::exists:
      return found != nullptr;
    case Operator::not_exists:
      return found == nullptr;
    case Operator::greater:
    case Operator::less:
      break;
  }
  if (found == nullptr || values.size() != 1) return false;
  const auto have = number(*found);
  const auto bound = number(values.front());
  if (!have || !bound) return false;
  return op == Operator::greater ? *have > *bound : *have < *bound;
}

std::string LabelRequirement::text() const {
  std::string out = op == Operator::not_exists ? "!" + key : key;
  if (op == Operator::exists || op == Operator::not_exists) return out;
  const bool set = op == Operator::in || op == Operator::not_in;
  out += infix(op);
  if (set) out += '(';
  out += join(values, ",");
  if (set) out += ')';
  return out;
}

LabelQuery LabelQuery::nothing() {
  LabelQuery query;
  query.nothing_ = true;
  return query;
}

Result<LabelQuery> LabelQuery::parse(std::string_view text) {
  LabelQuery query;
  TRY(query.requirements_, parse_label_requirements(text));
  sort_by_key(query.requirements_);
  return query;
}

Result<LabelQuery> LabelQuery::from(const LabelSelector& selector) {
  LabelQuery query;
  for (const auto& [key, value] : selector.match_labels) {
    TRY(auto requirement, make_requirement(key, Operator::equals, {value}));
    query.requirements_.push_back(std::move(requirement));
  }
  for (const LabelSelectorRequirement& expression : selector.match_expressions) {
    TRY(const Operator op, selector_operator(expression.operator_name));
    TRY(auto requirement, make_requirement(expression.key, op, expression.values));
    query.requirements_.push_back(std::move(requirement));
  }
  sort_by_key(query.requirements_);
  return query;
}

LabelQuery LabelQuery::from_labels(const StringMap& labels) {
  LabelQuery query;
  for (const auto& [key, value] : labels) {
    query.requirements_.push_back({key, Operator::equals, {value}});
  }
  return query;
}

bool LabelQuery::matches(const StringMap& labels) const {
  return !nothing_ && std::all_of(requirements_.begin(), requirements_.end(),
                                  [&labels](const auto& each) { return each.matches(labels); });
}

std::optional<std::string> LabelQuery::exact(std::string_view key) const {
  for (const LabelRequirement& requirement : requirements_) {
    if (requirement.key != key) continue;
    const bool positive = requirement.op == Operator::in || requirement.op == Operator::equals ||
                          requirement.op == Operator::double_equals;
    if (positive && requirement.values.size() == 1) return requirement.values.front();
    return std::nullopt;
  }
  return std::nullopt;
}

std::string LabelQuery::text() const {
  std::vector<std::string> parts;
  parts.reserve(requirements_.size());
  for (const LabelRequirement& requirement : requirements_) parts.push_back(requirement.text());
  return join(parts, ",");
}

}  // namespace holdfast::sync::objects
