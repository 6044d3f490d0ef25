// The defaults and checks of roles and bindings.

#include <boost/json.hpp>

#include "agent/lab/rules/defaults.h"
#include "agent/lab/rules/rbac.h"
#include "agent/lab/rules/validation.h"
#include "sync/objects/name.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

constexpr std::string_view only_rbac[] = {rbac_group};
constexpr std::string_view only_core[] = {""};
constexpr std::string_view any_role[] = {"ClusterRole", "Role"};
constexpr std::string_view cluster_role[] = {"ClusterRole"};
constexpr std::string_view subject_kinds[] = {"ServiceAccount", "User", "Group"};

bool has(const json::object& rule, std::string_view field) {
  return !sync::wire::dig_list(rule, {field}).empty();
}

void check_paths_rule(sync::wire::FieldErrors& errors, const json::object& rule, bool namespaced,
                      const std::string& here) {
  const std::string path = sync::wire::child(here, "nonResourceURLs");
  const std::string printed = json::serialize(sync::wire::dig_list(rule, {"nonResourceURLs"}));
  if (namespaced) {
    errors.push_back(sync::wire::field::invalid_raw(
        path, printed, "namespaced rules cannot apply to non-resource URLs"));
  }
  if (has(rule, "apiGroups") || has(rule, "resources") || has(rule, "resourceNames")) {
    errors.push_back(sync::wire::field::invalid_raw(
        path, printed, "rules cannot apply to both regular resources and non-resource URLs"));
  }
}

void check_rule(sync::wire::FieldErrors& errors, const json::object& rule, bool namespaced,
                const std::string& here) {
  if (!has(rule, "verbs")) {
    errors.push_back(sync::wire::field::required(sync::wire::child(here, "verbs"),
                                                 "verbs must contain at least one value"));
  }
  if (has(rule, "nonResourceURLs")) {
    check_paths_rule(errors, rule, namespaced, here);
    return;
  }
  if (!has(rule, "apiGroups")) {
    errors.push_back(sync::wire::field::required(
        sync::wire::child(here, "apiGroups"), "resource rules must supply at least one api group"));
  }
  if (!has(rule, "resources")) {
    errors.push_back(sync::wire::field::required(
        sync::wire::child(here, "resources"), "resource rules must supply at least one resource"));
  }
}

void check_aggregation(sync::wire::FieldErrors& errors, const json::object& role) {
  if (sync::wire::dig(role, {"aggregationRule"}) == nullptr) return;
  const std::string path = "aggregationRule.clusterRoleSelectors";
  const json::array& selectors =
      sync::wire::dig_list(role, {"aggregationRule", "clusterRoleSelectors"});
  if (selectors.empty()) {
    errors.push_back(sync::wire::field::required(
        path, "at least one clusterRoleSelector required if aggregationRule is non-nil"));
  }
  for (std::size_t index = 0; index < selectors.size(); ++index) {
    check_label_selector(errors, sync::wire::as_object(selectors[index]),
                         sync::wire::at(path, index));
  }
}

void check_subject(sync::wire::FieldErrors& errors, const json::object& subject, bool namespaced,
                   const std::string& here) {
  const std::string_view kind = sync::wire::dig_text(subject, {"kind"});
  const std::string_view group = sync::wire::dig_text(subject, {"apiGroup"});
  const std::string_view name = sync::wire::dig_text(subject, {"name"});
  if (name.empty()) errors.push_back(sync::wire::field::required(sync::wire::child(here, "name")));
  if (kind == "ServiceAccount") {
    for (std::string& reason : sync::objects::check_dns1123_subdomain(name)) {
      if (name.empty()) break;
      errors.push_back(
          sync::wire::field::invalid(sync::wire::child(here, "name"), name, std::move(reason)));
    }
    if (!group.empty()) {
      errors.push_back(
          sync::wire::field::not_supported(sync::wire::child(here, "apiGroup"), group, only_core));
    }
    if (!namespaced && sync::wire::dig_text(subject, {"namespace"}).empty())
      errors.push_back(sync::wire::field::required(sync::wire::child(here, "namespace")));
  } else if (kind != "User" && kind != "Group") {
    errors.push_back(
        sync::wire::field::not_supported(sync::wire::child(here, "kind"), kind, subject_kinds));
  } else if (group != rbac_group) {
    errors.push_back(
        sync::wire::field::not_supported(sync::wire::child(here, "apiGroup"), group, only_rbac));
  }
}

void check_role_binding(sync::wire::FieldErrors& errors, const json::object& binding,
                        bool namespaced) {
  const json::object& reference = sync::wire::dig_object(binding, {"roleRef"});
  const std::string_view group = sync::wire::dig_text(reference, {"apiGroup"});
  const std::string_view kind = sync::wire::dig_text(reference, {"kind"});
  const std::string_view name = sync::wire::dig_text(reference, {"name"});
  if (group != rbac_group)
    errors.push_back(sync::wire::field::not_supported("roleRef.apiGroup", group, only_rbac));
  if (kind != "ClusterRole" && (kind != "Role" || !namespaced)) {
    errors.push_back(namespaced
                         ? sync::wire::field::not_supported("roleRef.kind", kind, any_role)
                         : sync::wire::field::not_supported("roleRef.kind", kind, cluster_role));
  }
  if (name.empty()) errors.push_back(sync::wire::field::required("roleRef.name"));
  for (std::string& reason : sync::objects::check_path_segment(name))
    errors.push_back(sync::wire::field::invalid("roleRef.name", name, std::move(reason)));
  const json::array& subjects = sync::wire::dig_list(binding, {"subjects"});
  for (std::size_t index = 0; index < subjects.size(); ++index) {
    check_subject(errors, sync::wire::as_object(subjects[index]), namespaced,
                  sync::wire::at("subjects", index));
  }
}

void default_group(json::object& of) {
  if (sync::wire::dig_text(of, {"kind"}) == "ServiceAccount") return;
  if (sync::wire::dig_text(of, {"apiGroup"}).empty()) of["apiGroup"] = rbac_group;
}

}  // namespace

void default_role_binding(json::object& binding) {
  default_group(sync::wire::make_object(binding, {"roleRef"}));
  json::value* subjects = binding.if_contains("subjects");
  if (subjects == nullptr || !subjects->is_array()) return;
  for (json::value& subject : subjects->get_array()) {
    if (subject.is_object()) default_group(subject.get_object());
  }
}

void check_roles(sync::wire::FieldErrors& errors, const sync::printing::Resource& resource,
                 const json::object& object) {
  if (resource.kind.ends_with("Binding")) {
    check_role_binding(errors, object, resource.namespaced);
    return;
  }
  const json::array& rules = sync::wire::dig_list(object, {"rules"});
  for (std::size_t index = 0; index < rules.size(); ++index) {
    check_rule(errors, sync::wire::as_object(rules[index]), resource.namespaced,
               sync::wire::at("rules", index));
  }
  check_aggregation(errors, object);
}

void check_role_reference_kept(sync::wire::FieldErrors& errors, const json::object& binding,
                               const json::object& old) {
  const json::object& reference = sync::wire::dig_object(binding, {"roleRef"});
  if (reference == sync::wire::dig_object(old, {"roleRef"})) return;
  const json::object printed = {{"APIGroup", sync::wire::dig_text(reference, {"apiGroup"})},
                                {"Kind", sync::wire::dig_text(reference, {"kind"})},
                                {"Name", sync::wire::dig_text(reference, {"name"})}};
  errors.push_back(
      sync::wire::field::invalid_raw("roleRef", json::serialize(printed), "cannot change roleRef"));
}

}  // namespace holdfast::agent::lab
