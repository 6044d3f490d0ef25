// FieldQuery: "metadata.name=x,status.phase!=Running". A comma or equals sign in a value is escaped
// with a backslash.

#include <algorithm>
#include <array>
#include <span>

#include "platform/text.h"
#include "sync/objects/selector.h"
#include "sync/wire/object_header.h"
#include "sync/wire/quote.h"

namespace holdfast::sync::objects {
namespace {

std::vector<std::string_view> split_terms(std::string_view text) {
  std::vector<std::string_view> terms;
  std::size_t start = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == ',') {
      terms.push_back(text.substr(start, at - start));
      start = at + 1;
    }
  }
  terms.push_back(text.substr(start));
  std::sort(terms.begin(), terms.end());
  return terms;
}

Result<std::string> unescape(std::string_view raw) {
  constexpr std::string_view bad = "invalid field selector: invalid escape sequence: \\";
  std::string value;
  for (std::size_t at = 0; at < raw.size(); ++at) {
    const char c = raw[at];
    if (c == ',' || c == '=') {
      return fail(Errc::invalid, "invalid field selector: unescaped character in value: " +
                                     std::to_string(static_cast<int>(c)));
    }
    if (c != '\\') {
      value += c;
      continue;
    }
    ++at;
    if (at == raw.size()) return fail(Errc::invalid, std::string(bad));
    if (raw[at] != '\\' && raw[at] != ',' && raw[at] != '=') {
      return fail(Errc::invalid, std::string(bad) + raw[at]);
    }
    value += raw[at];
  }
  return value;
}

std::string escape(std::string_view value) {
  std::string out;
  for (const char c : value) {
    if (c == '\\' || c == ',' || c == '=') out += '\\';
    out += c;
  }
  return out;
}

std::string term_of(const FieldRequirement& requirement) {
  return requirement.field + (requirement.equal ? "=" : "!=") + escape(requirement.value);
}

// Returns nothing if the term has no operator.
Result<std::optional<FieldRequirement>> parse_term(std::string_view term) {
  const std::size_t at = term.find_first_of("=!");
  for (std::size_t i = at; i < term.size(); ++i) {
    const std::string_view rest = term.substr(i);
    const bool differs = rest.starts_with("!=");
    if (!differs && rest.front() != '=') continue;
    const std::size_t length = differs || rest.starts_with("==") ? 2 : 1;
    TRY(std::string value, unescape(rest.substr(length)));
    return FieldRequirement{std::string(term.substr(0, i)), !differs, std::move(value)};
  }
  return std::nullopt;
}

struct Selectable {
  std::string_view group;
  std::string_view resource;
  std::string_view field;
  std::string_view absent;     // its value if an object does not have it
  std::string_view path = {};  // its path in the object, if that is not `field`
};

// All resources also have metadata.name and metadata.namespace.
constexpr std::array selectables = {
    Selectable{"", "pods", "spec.nodeName", ""},
    Selectable{"", "pods", "spec.restartPolicy", ""},
    Selectable{"", "pods", "spec.schedulerName", ""},
    Selectable{"", "pods", "spec.serviceAccountName", ""},
    Selectable{"", "pods", "spec.hostNetwork", "false"},
    Selectable{"", "pods", "status.phase", ""},
    Selectable{"", "pods", "status.podIP", ""},
    Selectable{"", "pods", "status.nominatedNodeName", ""},
    Selectable{"", "nodes", "spec.unschedulable", "false"},
    Selectable{"", "namespaces", "status.phase", ""},
    Selectable{"", "secrets", "type", ""},
    Selectable{"", "services", "spec.clusterIP", ""},
    Selectable{"", "services", "spec.type", ""},
    Selectable{"apps", "replicasets", "status.replicas", "0"},
    Selectable{"", "events", "involvedObject.kind", ""},
    Selectable{"", "events", "involvedObject.namespace", ""},
    Selectable{"", "events", "involvedObject.name", ""},
    Selectable{"", "events", "involvedObject.uid", ""},
    Selectable{"", "events", "involvedObject.apiVersion", ""},
    Selectable{"", "events", "involvedObject.resourceVersion", ""},
    Selectable{"", "events", "involvedObject.fieldPath", ""},
    Selectable{"", "events", "reason", ""},
    Selectable{"", "events", "reportingComponent", ""},
    Selectable{"", "events", "source", "", "source.component"},
    Selectable{"", "events", "type", ""},
};

constexpr Selectable name_field{"", "", "metadata.name", ""};
constexpr Selectable namespace_field{"", "", "metadata.namespace", ""};

const Selectable* find_selectable(std::string_view group, std::string_view resource,
                                  std::string_view field) {
  if (field == name_field.field) return &name_field;
  if (field == namespace_field.field) return &namespace_field;
  for (const Selectable& known : selectables) {
    if (known.group == group && known.resource == resource && known.field == field) return &known;
  }
  return nullptr;
}

bool has_own_fields(std::string_view group, std::string_view resource) {
  return std::any_of(selectables.begin(), selectables.end(), [group, resource](const auto& known) {
    return known.group == group && known.resource == resource;
  });
}

}  // namespace

Result<FieldQuery> FieldQuery::parse(std::string_view text) {
  FieldQuery query;
  for (const std::string_view term : split_terms(text)) {
    if (term.empty()) continue;
    TRY(auto requirement, parse_term(term));
    if (!requirement) {
      return fail(Errc::invalid, "invalid selector: '" + std::string(text) +
                                     "'; can't understand '" + std::string(term) + "'");
    }
    query.requirements_.push_back(*std::move(requirement));
  }
  // Sort again in canonical form: "a==b" sorts differently from "a=b", which means the same.
  std::sort(query.requirements_.begin(), query.requirements_.end(),
            [](const auto& left, const auto& right) { return term_of(left) < term_of(right); });
  return query;
}

bool FieldQuery::matches(const StringMap& fields) const {
  return std::all_of(requirements_.begin(), requirements_.end(), [&fields](const auto& each) {
    return (fields.get(each.field) == each.value) == each.equal;
  });
}

std::optional<std::string> FieldQuery::exact(std::string_view field) const {
  for (const FieldRequirement& requirement : requirements_) {
    if (requirement.equal && requirement.field == field) return requirement.value;
  }
  return std::nullopt;
}

std::string FieldQuery::text() const {
  std::string out;
  for (const FieldRequirement& requirement : requirements_) {
    if (!out.empty()) out += ',';
    out += term_of(requirement);
  }
  return out;
}

Status check_fields(std::string_view group, std::string_view resource, const FieldQuery& query) {
  for (const FieldRequirement& requirement : query.requirements()) {
    if (find_selectable(group, resource, requirement.field) != nullptr) continue;
    if (has_own_fields(group, resource)) {
      return fail(Errc::invalid, "field label not supported: " + requirement.field);
    }
    return fail(Errc::invalid,
                wire::quoted(requirement.field) + " is not a known field selector: only " +
                    wire::quoted(name_field.field) + ", " + wire::quoted(namespace_field.field));
  }
  return {};
}

Result<StringMap> field_values(std::string_view group, std::string_view resource,
                               const FieldQuery& query, std::string_view object) {
  if (auto known = check_fields(group, resource, query); !known) return fail(known.error());
  StringMap values;
  for (const FieldRequirement& requirement : query.requirements()) {
    const Selectable* field = find_selectable(group, resource, requirement.field);
    const auto path = split(field->path.empty() ? field->field : field->path, '.');
    TRY(const auto found, wire::text_at(object, std::span<const std::string_view>(path)));
    values.set(field->field, found ? std::string_view(*found) : field->absent);
  }
  return values;
}

}  // namespace holdfast::sync::objects
