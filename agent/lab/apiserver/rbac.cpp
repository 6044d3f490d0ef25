#include "agent/lab/apiserver/rbac.h"

#include <boost/json.hpp>

#include "agent/lab/apiserver/nodes.h"
#include "agent/lab/rules/node_authorizer.h"
#include "agent/lab/rules/rbac_rule.h"
#include "platform/text.h"
#include "sync/wire/quote.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

constexpr std::string_view no_cluster_admin =
    "must have cluster-admin privileges to use the aggregationRule";

const sync::printing::Resource& rbac_kind(std::string_view kind) {
  return sync::printing::known_kind(rbac_group, kind);
}

// Whether only fields differ that garbage collection changes.
bool changes_only_owners(const json::object& now, const json::object& before) {
  const auto plain = [](json::object object) {
    json::object& metadata = sync::wire::make_object(object, {"metadata"});
    for (const std::string_view field :
         {"ownerReferences", "finalizers", "resourceVersion", "managedFields"}) {
      metadata.erase(field);
    }
    return object;
  };
  return plain(now) == plain(before);
}

bool is_binding(const Call& call) { return call.resource().kind.ends_with("Binding"); }

// The question whether the caller may grant rights that he does not have.
sync::objects::RequestInfo privilege(const Call& call, const json::object& now) {
  sync::objects::RequestInfo asked = call.info;
  asked.subresource.clear();
  if (!is_binding(call)) {
    asked.verb = "escalate";
    return asked;
  }
  asked.verb = "bind";
  const bool cluster = sync::wire::dig_text(now, {"roleRef", "kind"}) == "ClusterRole";
  asked.resource = cluster ? "clusterroles" : "roles";
  asked.name = sync::wire::dig_text(now, {"roleRef", "name"});
  return asked;
}

std::string grants_too_much(const Identity& caller, const std::vector<std::string>& missing) {
  std::vector<std::string> groups;
  groups.reserve(caller.groups.size());
  for (const std::string& group : caller.groups) groups.push_back(sync::wire::quoted(group));
  return "user " + sync::wire::quoted(caller.name) + " (groups=[" + join(groups, " ") +
         "]) is attempting to grant RBAC permissions not currently held:\n" + join(missing, "\n");
}

bool aggregates(const json::object* role) {
  return role != nullptr &&
         !sync::wire::dig_list(*role, {"aggregationRule", "clusterRoleSelectors"}).empty();
}

}  // namespace

RoleObjects role_objects(const Registry& registry) {
  return {.cluster_bindings =
              [&registry](const RoleObjects::Visit& visit) {
                for (const StoredPtr& each : registry.list(rbac_kind("ClusterRoleBinding")))
                  visit(each->object);
              },
          .bindings =
              [&registry](std::string_view name_space, const RoleObjects::Visit& visit) {
                for (const StoredPtr& each : registry.list(rbac_kind("RoleBinding"), name_space))
                  visit(each->object);
              },
          .role =
              [&registry](std::string_view name_space, std::string_view name,
                          const RoleObjects::Visit& visit) {
                const auto& resource = rbac_kind(name_space.empty() ? "ClusterRole" : "Role");
                if (const StoredPtr role = registry.find(resource, name_space, name))
                  visit(role->object);
              }};
}

Verdict decide(const Backend& backend, const Identity& caller,
               const sync::objects::RequestInfo& info) {
  const std::string_view node = backend.node_authorizer ? node_of(caller) : std::string_view();
  if (caller.in_group("system:masters") || (node.empty() && !backend.secured)) return {true};
  std::string why;
  if (!node.empty() && info.is_resource) {
    NodeDecision decision = authorize_node(node, info, node_objects(backend.registry));
    if (decision.allowed) return {true};
    why = std::move(decision.why);
  }
  if (backend.rbac) {
    RbacDecision decision = decide_rbac(caller, info, role_objects(backend.registry));
    if (!decision.allowed && !why.empty() && !decision.reason.empty())
      why = "[" + why + ", " + decision.reason + "]";
    return {decision.allowed, why.empty() || decision.allowed ? decision.reason : why};
  }
  // A node also has the rights of every authenticated caller.
  Identity plain = caller;
  if (!node.empty() && info.is_resource) std::erase(plain.groups, "system:nodes");
  if (authorize(plain, info)) return {true};
  return {false, why};
}

Answer<bool> admit_role(const Backend& backend, const Call& call, const json::object& now,
                        const json::object* before) {
  if (before != nullptr && changes_only_owners(now, *before)) return true;
  if (decide(backend, call.caller, privilege(call, now)).allowed) return true;
  const RoleObjects objects = role_objects(backend.registry);
  const std::vector<json::object> held = rules_of(call.caller, call.name_space(), objects).rules;
  std::vector<json::object> wanted;
  if (is_binding(call)) {
    const json::object& reference = sync::wire::dig_object(now, {"roleRef"});
    HeldRules granted = rules_of_reference(reference, call.name_space(), objects);
    if (!granted.problems.empty()) {
      // As upstream, which names the kind of the binding with the name of the role.
      return refuse(sync::wire::status::not_found({rbac_group, call.resource().plural},
                                                  sync::wire::dig_text(reference, {"name"})));
    }
    wanted = std::move(granted.rules);
  } else {
    for (const json::value& rule : sync::wire::dig_list(now, {"rules"}))
      wanted.push_back(sync::wire::as_object(rule));
  }
  const sync::wire::GroupResource about{rbac_group, call.resource().plural};
  const std::vector<std::string> missing = missing_rights(held, wanted);
  if (!missing.empty()) {
    return refuse(sync::wire::status::forbidden(about, sync::wire::name_of(now),
                                                grants_too_much(call.caller, missing)));
  }
  const bool collects = aggregates(&now) || aggregates(before);
  if (collects && !missing_rights(held, full_authority()).empty()) {
    return refuse(sync::wire::status::forbidden(about, sync::wire::name_of(now), no_cluster_admin));
  }
  return true;
}

}  // namespace holdfast::agent::lab
