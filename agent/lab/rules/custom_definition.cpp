#include "agent/lab/rules/custom_definition.h"

#include <algorithm>
#include <boost/json.hpp>
#include <cctype>

#include "agent/lab/rules/custom_schema.h"
#include "agent/lab/rules/matching.h"
#include "platform/text.h"
#include "sync/objects/name.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;
using sync::wire::at;
using sync::wire::child;
using sync::wire::FieldErrors;

constexpr DefinitionLimits definition_limits;

std::string lower(std::string_view text) {
  std::string made(text);
  std::transform(made.begin(), made.end(), made.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return made;
}

void check_label(FieldErrors& errors, std::string_view value, const std::string& path) {
  if (value.empty()) {
    errors.push_back(sync::wire::field::required(path));
    return;
  }
  for (const std::string& why : sync::objects::check_dns1123_label(value)) {
    errors.push_back(sync::wire::field::invalid(path, value, why));
  }
}

void check_names(FieldErrors& errors, const json::object& crd) {
  const json::object& spec = sync::wire::dig_object(crd, {"spec"});
  const json::object& names = sync::wire::dig_object(spec, {"names"});
  const std::string_view group = sync::wire::dig_text(spec, {"group"});
  const std::string_view plural = sync::wire::dig_text(names, {"plural"});
  const std::string expected = std::string(plural) + "." + std::string(group);
  if (sync::wire::name_of(crd) != expected) {
    errors.push_back(sync::wire::field::invalid("metadata.name", sync::wire::name_of(crd),
                                                "must be spec.names.plural+\".\"+spec.group"));
  }
  if (group.empty()) {
    errors.push_back(sync::wire::field::required("spec.group"));
  } else if (!sync::objects::check_dns1123_subdomain(group).empty()) {
    errors.push_back(sync::wire::field::invalid(
        "spec.group", group, sync::objects::check_dns1123_subdomain(group).front()));
  } else if (group.find('.') == std::string_view::npos) {
    errors.push_back(sync::wire::field::invalid("spec.group", group,
                                                "should be a domain with at least one dot"));
  }
  const bool is_protected = group == "k8s.io" || group.ends_with(".k8s.io") ||
                            group == "kubernetes.io" || group.ends_with(".kubernetes.io");
  if (is_protected && !sync::wire::dig_object(crd, {"metadata", "annotations"})
                           .contains("api-approved.kubernetes.io")) {
    errors.push_back(sync::wire::field::required(
        "metadata.annotations[api-approved.kubernetes.io]",
        "protected groups must have approval annotation \"api-approved.kubernetes.io\", see "
        "https://github.com/kubernetes/enhancements/pull/1111"));
  }
  check_label(errors, plural, "spec.names.plural");
  check_label(errors, sync::wire::dig_text(names, {"singular"}), "spec.names.singular");
  check_label(errors, lower(sync::wire::dig_text(names, {"kind"})), "spec.names.kind");
  const std::string_view scope = sync::wire::dig_text(spec, {"scope"});
  constexpr std::string_view scopes[] = {"Cluster", "Namespaced"};
  if (scope.empty()) {
    errors.push_back(sync::wire::field::required("spec.scope"));
  } else if (std::find(std::begin(scopes), std::end(scopes), scope) == std::end(scopes)) {
    errors.push_back(sync::wire::field::not_supported("spec.scope", scope, scopes));
  }
}

void check_columns(FieldErrors& errors, const json::object& version, const std::string& path) {
  const json::array& columns = sync::wire::dig_list(version, {"additionalPrinterColumns"});
  const std::string list = child(path, "additionalPrinterColumns");
  if (columns.size() > definition_limits.columns) {
    errors.push_back(sync::wire::field::too_many(list, columns.size(), definition_limits.columns));
    return;
  }
  constexpr std::string_view types[] = {"integer", "number", "string", "boolean", "date"};
  for (std::size_t place = 0; place < columns.size(); ++place) {
    const json::object& column = sync::wire::as_object(columns[place]);
    const std::string here = at(list, place);
    if (sync::wire::dig_text(column, {"name"}).empty()) {
      errors.push_back(sync::wire::field::required(child(here, "name")));
    }
    const std::string_view type = sync::wire::dig_text(column, {"type"});
    if (std::find(std::begin(types), std::end(types), type) == std::end(types)) {
      errors.push_back(sync::wire::field::not_supported(child(here, "type"), type, types));
    }
    if (!sync::wire::dig_text(column, {"jsonPath"}).starts_with('.')) {
      errors.push_back(sync::wire::field::invalid(child(here, "JSONPath"),
                                                  sync::wire::dig_text(column, {"jsonPath"}),
                                                  "must be a simple json path starting with ."));
    }
  }
}

// Upstream only explains a version without any schema.
std::string schema_missing(const json::object& validation) {
  return validation.empty() ? "schemas are required" : "";
}

void check_version(FieldErrors& errors, const json::object& version, const std::string& path) {
  const std::string_view name = sync::wire::dig_text(version, {"name"});
  check_label(errors, name, child(path, "name"));
  const json::object& validation = sync::wire::dig_object(version, {"schema"});
  const json::value* schema = validation.if_contains("openAPIV3Schema");
  if (schema == nullptr || !schema->is_object()) {
    errors.push_back(sync::wire::field::required(child(path, "schema.openAPIV3Schema"),
                                                 schema_missing(validation)));
  } else {
    check_schema(errors, schema->get_object(), child(path, "schema.openAPIV3Schema"));
  }
  check_columns(errors, version, path);
  const json::value* scale = sync::wire::dig_object(version, {"subresources"}).if_contains("scale");
  if (scale == nullptr) return;
  for (const std::string_view field : {"specReplicasPath", "statusReplicasPath"}) {
    const std::string_view part = field == "specReplicasPath" ? ".spec." : ".status.";
    const std::string_view value = sync::wire::dig_text(sync::wire::as_object(*scale), {field});
    if (value.starts_with(part)) continue;
    errors.push_back(sync::wire::field::invalid(
        child(path, "subresources.scale." + std::string(field)), value,
        "should be a json path under " + std::string(part.substr(0, part.size() - 1))));
  }
}

bool has_name(const json::object& names, std::string_view name) {
  if (sync::wire::dig_text(names, {"plural"}) == name) return true;
  if (sync::wire::dig_text(names, {"singular"}) == name) return true;
  const json::array& short_names = sync::wire::dig_list(names, {"shortNames"});
  return std::find(short_names.begin(), short_names.end(), json::value(name)) != short_names.end();
}

// The name of the definition that another one of its group has already; "" if there is none.
std::string taken_name(const json::object& crd, const std::vector<const json::object*>& others) {
  const json::object& names = sync::wire::dig_object(crd, {"spec", "names"});
  for (const json::object* other : others) {
    if (sync::wire::name_of(*other) == sync::wire::name_of(crd)) continue;
    if (sync::wire::dig_text(*other, {"spec", "group"}) !=
        sync::wire::dig_text(crd, {"spec", "group"}))
      continue;
    if (!is_established(*other)) continue;
    const json::object& taken = sync::wire::dig_object(*other, {"spec", "names"});
    for (const std::string_view field : {"plural", "singular"}) {
      const std::string_view name = sync::wire::dig_text(names, {field});
      if (has_name(taken, name)) return std::string(name);
    }
    for (const json::value& name : sync::wire::dig_list(names, {"shortNames"})) {
      if (has_name(taken, sync::wire::as_text(name))) return std::string(sync::wire::as_text(name));
    }
    const std::string_view kind = sync::wire::dig_text(names, {"kind"});
    if (kind == sync::wire::dig_text(taken, {"kind"})) return std::string(kind);
  }
  return "";
}

json::object condition(std::string_view type, bool holds, std::string_view reason,
                       std::string_view message) {
  return {{"type", type},
          {"status", holds ? "True" : "False"},
          {"reason", reason},
          {"message", message}};
}

}  // namespace

void default_definition(json::object& crd) {
  json::object& spec = sync::wire::make_object(crd, {"spec"});
  json::object& names = sync::wire::make_object(spec, {"names"});
  const std::string kind(sync::wire::dig_text(names, {"kind"}));
  if (sync::wire::dig_text(names, {"singular"}).empty()) names["singular"] = lower(kind);
  if (sync::wire::dig_text(names, {"listKind"}).empty() && !kind.empty()) {
    names["listKind"] = kind + "List";
  }
  if (sync::wire::dig_text(spec, {"conversion", "strategy"}).empty()) {
    sync::wire::make_object(spec, {"conversion"})["strategy"] = "None";
  }
}

void check_definition(FieldErrors& errors, const json::object& crd) {
  check_names(errors, crd);
  const json::array& versions = sync::wire::dig_list(crd, {"spec", "versions"});
  if (versions.size() > definition_limits.versions) {
    errors.push_back(
        sync::wire::field::too_many("spec.versions", versions.size(), definition_limits.versions));
    return;
  }
  std::size_t stored = 0;
  std::vector<std::string_view> names;
  for (std::size_t place = 0; place < versions.size(); ++place) {
    const json::object& version = sync::wire::as_object(versions[place]);
    const std::string path = at("spec.versions", place);
    check_version(errors, version, path);
    if (sync::wire::dig_bool(version, {"storage"})) ++stored;
    const std::string_view name = sync::wire::dig_text(version, {"name"});
    if (std::find(names.begin(), names.end(), name) != names.end()) {
      errors.push_back(sync::wire::field::duplicate(child(path, "name"), name));
    }
    names.push_back(name);
  }
  if (stored != 1) {
    errors.push_back(
        sync::wire::field::invalid_raw("spec.versions", json::serialize(versions),
                                       "must have exactly one version marked as storage version"));
  }
  const std::string_view strategy = sync::wire::dig_text(crd, {"spec", "conversion", "strategy"});
  constexpr std::string_view strategies[] = {"None"};
  if (strategy != "None") {
    errors.push_back(
        sync::wire::field::not_supported("spec.conversion.strategy", strategy, strategies));
  }
}

void check_definition_update(FieldErrors& errors, const json::object& crd,
                             const json::object& old) {
  for (const std::string_view field : {"group", "scope"}) {
    const std::string_view now = sync::wire::dig_text(crd, {"spec", field});
    if (now == sync::wire::dig_text(old, {"spec", field})) continue;
    errors.push_back(sync::wire::field::invalid(child("spec", field), now, "field is immutable"));
  }
  const json::array& versions = sync::wire::dig_list(crd, {"spec", "versions"});
  const json::array& stored = sync::wire::dig_list(old, {"status", "storedVersions"});
  for (std::size_t place = 0; place < stored.size(); ++place) {
    const bool there =
        std::any_of(versions.begin(), versions.end(), [&stored, place](const json::value& each) {
          return sync::wire::dig_text(sync::wire::as_object(each), {"name"}) ==
                 sync::wire::as_text(stored[place]);
        });
    if (there) continue;
    errors.push_back(sync::wire::field::invalid(at("status.storedVersions", place),
                                                sync::wire::as_text(stored[place]),
                                                "missing from spec.versions; must remain there "
                                                "while objects may be stored in it"));
  }
}

json::object definition_status(const json::object& crd,
                               const std::vector<const json::object*>& others, WallTime now) {
  json::object status = sync::wire::dig_object(crd, {"status"});
  const std::string time = format_rfc3339(now);
  const std::string taken = taken_name(crd, others);
  const bool accepted = taken.empty();
  set_condition(status,
                condition("NamesAccepted", accepted, accepted ? "NoConflicts" : "NameConflict",
                          accepted ? "no conflicts found" : "\"" + taken + "\" is already in use"),
                time);
  set_condition(
      status,
      condition("Established", accepted, accepted ? "InitialNamesAccepted" : "NotAccepted",
                accepted ? "the initial names have been accepted" : "not all names are accepted"),
      time);
  if (accepted) status["acceptedNames"] = sync::wire::dig_object(crd, {"spec", "names"});
  json::array stored = sync::wire::dig_list(status, {"storedVersions"});
  for (const json::value& each : sync::wire::dig_list(crd, {"spec", "versions"})) {
    const json::object& version = sync::wire::as_object(each);
    const json::value name(sync::wire::dig_text(version, {"name"}));
    const bool known = std::find(stored.begin(), stored.end(), name) != stored.end();
    if (sync::wire::dig_bool(version, {"storage"}) && !known) stored.push_back(name);
  }
  status["storedVersions"] = std::move(stored);
  return status;
}

bool is_established(const json::object& crd) {
  return condition_status(crd, "Established") == "True";
}

std::vector<std::string> definition_warnings(const json::object& crd) {
  std::vector<std::string> warnings;
  const json::array& versions = sync::wire::dig_list(crd, {"spec", "versions"});
  for (std::size_t place = 0; place < versions.size(); ++place) {
    const json::object& schema = sync::wire::dig_object(sync::wire::as_object(versions[place]),
                                                        {"schema", "openAPIV3Schema"});
    if (!has_rules(schema)) continue;
    warnings.push_back(at("spec.versions", place) +
                       ".schema: x-kubernetes-validations are not evaluated by holdfast-lab");
  }
  return warnings;
}

}  // namespace holdfast::agent::lab
