#include "agent/lab/rules/rbac.h"

#include <algorithm>
#include <boost/json.hpp>

#include "agent/lab/rules/rbac_rule.h"
#include "platform/text.h"
#include "sync/wire/quote.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

// The namespace of a ServiceAccount in a binding, by default that of the binding.
std::string_view account_space(const json::object& subject, std::string_view binding_space) {
  const std::string_view space = sync::wire::dig_text(subject, {"namespace"});
  return space.empty() ? binding_space : space;
}

bool is_subject(const json::object& subject, const Identity& caller,
                std::string_view binding_space) {
  const std::string_view kind = sync::wire::dig_text(subject, {"kind"});
  const std::string_view name = sync::wire::dig_text(subject, {"name"});
  if (kind == "User") return caller.name == name;
  if (kind == "Group") return caller.in_group(name);
  const std::string_view space = account_space(subject, binding_space);
  if (kind != "ServiceAccount" || space.empty()) return false;
  std::string account = "system:serviceaccount:";
  return caller.name == account.append(space).append(":").append(name);
}

// The first subject of the binding that is the caller; nullptr if there is none.
const json::object* find_subject(const json::object& binding, const Identity& caller) {
  for (const json::value& item : sync::wire::dig_list(binding, {"subjects"})) {
    const json::object& subject = sync::wire::as_object(item);
    if (is_subject(subject, caller, sync::wire::namespace_of(binding))) return &subject;
  }
  return nullptr;
}

// 'ClusterRoleBinding "a" of ClusterRole "b" to Group "c"'
std::string describe(const json::object& binding, const json::object& subject) {
  const std::string space(sync::wire::namespace_of(binding));
  std::string name(sync::wire::name_of(binding));
  if (!space.empty()) name += "/" + space;
  std::string who(sync::wire::dig_text(subject, {"name"}));
  const std::string kind(sync::wire::dig_text(subject, {"kind"}));
  if (kind == "ServiceAccount") who.append("/").append(account_space(subject, space));
  return (space.empty() ? "ClusterRoleBinding " : "RoleBinding ") + sync::wire::quoted(name) +
         " of " + std::string(sync::wire::dig_text(binding, {"roleRef", "kind"})) + " " +
         sync::wire::quoted(sync::wire::dig_text(binding, {"roleRef", "name"})) + " to " + kind +
         " " + sync::wire::quoted(who);
}

using VisitRule = std::function<void(const json::object& rule)>;

// Calls `visit` for each rule of the role. Returns the problem if there is no such role.
std::string visit_role(const json::object& reference, std::string_view name_space,
                       const RoleObjects& objects, const VisitRule& visit) {
  const std::string_view kind = sync::wire::dig_text(reference, {"kind"});
  const std::string_view name = sync::wire::dig_text(reference, {"name"});
  bool found = false;
  const auto each = [&found, &visit](const json::object& role) {
    found = true;
    for (const json::value& rule : sync::wire::dig_list(role, {"rules"}))
      visit(sync::wire::as_object(rule));
  };
  const bool local = kind == "Role";
  if (local ? !name_space.empty() : kind == "ClusterRole") {
    objects.role(local ? name_space : std::string_view(), name, each);
  }
  if (found) return {};
  return (local ? "role." : "clusterrole.") + std::string(rbac_group) + " " +
         sync::wire::quoted(name) + " not found";
}

using VisitBinding = std::function<void(const json::object& binding, const json::object& subject)>;

// Calls `visit` for each binding of the caller.
void visit_bindings(const Identity& caller, std::string_view name_space, const RoleObjects& objects,
                    const VisitBinding& visit) {
  const auto each = [&caller, &visit](const json::object& binding) {
    const json::object* subject = find_subject(binding, caller);
    if (subject != nullptr) visit(binding, *subject);
  };
  objects.cluster_bindings(each);
  if (!name_space.empty()) objects.bindings(name_space, each);
}

// "a", or "[a, b]"
std::string list_problems(std::vector<std::string> problems) {
  problems.erase(std::unique(problems.begin(), problems.end()), problems.end());
  if (problems.size() == 1) return problems.front();
  return "[" + join(problems, ", ") + "]";
}

}  // namespace

RbacDecision decide_rbac(const Identity& caller, const sync::objects::RequestInfo& info,
                         const RoleObjects& objects) {
  RbacDecision decision;
  std::vector<std::string> problems;
  const std::string_view space = info.is_resource ? info.namespace_name : std::string_view();
  visit_bindings(caller, space, objects,
                 [&decision, &problems, &info, &objects](const json::object& binding,
                                                         const json::object& subject) {
                   if (decision.allowed) return;
                   const json::object& reference = sync::wire::dig_object(binding, {"roleRef"});
                   std::string problem = visit_role(
                       reference, sync::wire::namespace_of(binding), objects,
                       [&decision, &info, &binding, &subject](const json::object& rule) {
                         if (decision.allowed || !rule_allows(rule, info)) return;
                         decision = {true, "RBAC: allowed by " + describe(binding, subject)};
                       });
                   if (!problem.empty()) problems.push_back(std::move(problem));
                 });
  if (!decision.allowed && !problems.empty())
    decision.reason = "RBAC: " + list_problems(std::move(problems));
  return decision;
}

HeldRules rules_of(const Identity& caller, std::string_view name_space,
                   const RoleObjects& objects) {
  HeldRules held;
  visit_bindings(caller, name_space, objects,
                 [&held, &objects](const json::object& binding, const json::object&) {
                   HeldRules more = rules_of_reference(sync::wire::dig_object(binding, {"roleRef"}),
                                                       sync::wire::namespace_of(binding), objects);
                   for (json::object& rule : more.rules) held.rules.push_back(std::move(rule));
                   for (std::string& why : more.problems) held.problems.push_back(std::move(why));
                 });
  return held;
}

HeldRules rules_of_reference(const json::object& reference, std::string_view name_space,
                             const RoleObjects& objects) {
  HeldRules held;
  std::string problem =
      visit_role(reference, name_space, objects,
                 [&held](const json::object& rule) { held.rules.push_back(rule); });
  if (!problem.empty()) held.problems.push_back(std::move(problem));
  return held;
}

}  // namespace holdfast::agent::lab
