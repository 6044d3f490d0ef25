#include "sync/apiserver/negotiate.h"

#include <algorithm>
#include <vector>

#include "platform/text.h"
#include "sync/protobuf/envelope.h"

namespace holdfast::sync {
namespace {

struct Clause {
  std::string_view type;
  std::string_view as;
  std::string_view group;
  std::string_view version;
  double quality = 1;
};

double parse_quality(std::string_view text) {
  // Such as "0.5".
  const std::size_t dot = text.find('.');
  double quality = text.starts_with('1') ? 1 : 0;
  double unit = 0.1;
  for (std::size_t at = dot; dot != std::string_view::npos && ++at < text.size(); unit /= 10) {
    if (is_digit(text[at])) quality += unit * (text[at] - '0');
  }
  return quality;
}

Clause parse_clause(std::string_view text) {
  Clause clause;
  const std::vector<std::string_view> parts = split(text, ';');
  clause.type = trim(parts.front());
  for (std::size_t at = 1; at < parts.size(); ++at) {
    const std::string_view parameter = trim(parts[at]);
    const std::size_t equals = parameter.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = parameter.substr(0, equals);
    const std::string_view value = parameter.substr(equals + 1);
    if (name == "as") clause.as = value;
    if (name == "g") clause.group = value;
    if (name == "v") clause.version = value;
    if (name == "q") clause.quality = parse_quality(value);
  }
  return clause;
}

std::optional<Form> form_of(const Clause& clause) {
  const std::string_view type = clause.type;
  if (type != "application/json" && type != "*/*" && type != "application/*") return std::nullopt;
  if (clause.as.empty()) return Form::object;
  if (clause.group != "meta.k8s.io") return std::nullopt;
  if (clause.version != "v1" && clause.version != "v1beta1") return std::nullopt;
  if (clause.as == "Table") return Form::table;
  if (clause.as == "PartialObjectMetadata") return Form::metadata;
  if (clause.as == "PartialObjectMetadataList") return Form::metadata;
  return std::nullopt;
}

// The clauses of an Accept header, best first.
std::vector<Clause> clauses_of(std::string_view accept) {
  std::vector<Clause> clauses;
  for (const std::string_view part : split(accept, ',')) clauses.push_back(parse_clause(part));
  std::stable_sort(clauses.begin(), clauses.end(), [](const Clause& left, const Clause& right) {
    return left.quality > right.quality;
  });
  return clauses;
}

}  // namespace

std::optional<Form> negotiate(std::string_view accept) {
  if (trim(accept).empty()) return Form::object;
  for (const Clause& clause : clauses_of(accept)) {
    if (const auto form = form_of(clause)) return form;
  }
  return std::nullopt;
}

bool prefers_protobuf(std::string_view accept) {
  const Clause best = clauses_of(accept).front();
  return best.type == protobuf_type && best.as.empty();
}

}  // namespace holdfast::sync
