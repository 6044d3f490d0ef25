// RBAC: what rules allow, which rules apply, what they cover, and the default roles.

#include "agent/lab/rules/rbac.h"

#include <boost/json.hpp>
#include <map>
#include <set>

#include "agent/lab/loops/aggregation.h"
#include "agent/lab/rules/default_roles.h"
#include "agent/lab/rules/rbac_rule.h"
#include "platform/text.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

json::object rule(std::string_view text) { return json::parse(text).as_object(); }

// "get pods", "get core pods/log default web-0", "get /healthz"
sync::objects::RequestInfo question(std::string_view text) {
  std::vector<std::string> words;
  for (const std::string_view word : split(text, ' '))
    words.emplace_back(word == "core" ? "" : word);
  words.resize(5);
  sync::objects::RequestInfo info;
  info.verb = words[0];
  info.is_resource = !words[1].starts_with('/');
  if (!info.is_resource) {
    info.path = words[1];
    return info;
  }
  info.group = words[1];
  info.resource = words[2].substr(0, words[2].find('/'));
  if (words[2].find('/') != std::string::npos)
    info.subresource = words[2].substr(words[2].find('/') + 1);
  info.namespace_name = words[3];
  info.name = words[4];
  return info;
}

TEST(RbacRule, AllowsWhatItLists) {
  struct Case {
    std::string_view rule;
    std::string_view asked;
    bool allowed;
  };
  constexpr std::string_view pods = R"({"verbs":["get"],"apiGroups":[""],"resources":["pods"]})";
  constexpr std::string_view all = R"({"verbs":["*"],"apiGroups":["*"],"resources":["*"]})";
  constexpr std::string_view named =
      R"({"verbs":["get","create"],"apiGroups":[""],"resources":["pods"],"resourceNames":["a"]})";
  constexpr std::string_view scales =
      R"({"verbs":["get"],"apiGroups":["apps"],"resources":["*/scale"]})";
  constexpr std::string_view paths = R"({"verbs":["get"],"nonResourceURLs":["/api","/logs/*"]})";
  const Case cases[] = {
      {pods, "get core pods ns", true},
      {pods, "get core pods/log ns", false},
      {pods, "list core pods ns", false},
      {pods, "get apps pods ns", false},
      {pods, "get /api", false},
      {all, "delete apps deployments/scale ns x", true},
      {all, "get /api", false},
      {named, "get core pods ns a", true},
      {named, "get core pods ns b", false},
      {named, "create core pods ns", false},
      {scales, "get apps deployments/scale ns", true},
      {scales, "get apps deployments ns", false},
      {scales, "get apps scale ns", false},
      {paths, "get /api", true},
      {paths, "get /api/v1", false},
      {paths, "get /logs/", true},
      {paths, "get /logs/kube/x", true},
      {paths, "get /log", false},
      {paths, "post /api", false},
      {R"({"verbs":["*"],"nonResourceURLs":["*"]})", "put /x", true},
      {"{}", "get core pods ns", false},
  };
  for (const Case& each : cases) {
    EXPECT_EQ(rule_allows(rule(each.rule), question(each.asked)), each.allowed)
        << each.rule << " " << each.asked;
  }
}

TEST(RbacRule, TellsWhichRightsAreMissing) {
  const std::vector<json::object> held = {
      rule(R"({"verbs":["get","list"],"apiGroups":[""],"resources":["pods","pods/*"]})"),
      rule(R"({"verbs":["get"],"apiGroups":[""],"resources":["secrets"],"resourceNames":["a"]})"),
      rule(R"({"verbs":["get"],"nonResourceURLs":["/healthz/*"]})")};
  struct Case {
    std::string_view wanted;
    std::vector<std::string> missing;
  };
  const Case cases[] = {
      {R"({"verbs":["list","get"],"apiGroups":[""],"resources":["pods"]})", {}},
      {R"({"verbs":["get"],"apiGroups":[""],"resources":["secrets"],"resourceNames":["a"]})", {}},
      {R"({"verbs":["get"],"nonResourceURLs":["/healthz/etcd"]})", {}},
      {R"({"verbs":["get","delete","watch"],"apiGroups":[""],"resources":["pods"]})",
       {R"({APIGroups:[""], Resources:["pods"], Verbs:["delete" "watch"]})"}},
      {R"({"verbs":["get"],"apiGroups":[""],"resources":["secrets"]})",
       {R"({APIGroups:[""], Resources:["secrets"], Verbs:["get"]})"}},
      {R"({"verbs":["get"],"apiGroups":["*"],"resources":["pods"]})",
       {R"({APIGroups:["*"], Resources:["pods"], Verbs:["get"]})"}},
      {R"({"verbs":["*"],"apiGroups":[""],"resources":["pods"],"resourceNames":["x"]})",
       {R"({APIGroups:[""], Resources:["pods"], ResourceNames:["x"], Verbs:["*"]})"}},
      {R"({"verbs":["get"],"nonResourceURLs":["/*"]})",
       {R"({NonResourceURLs:["/*"], Verbs:["get"]})"}},
  };
  for (const Case& each : cases)
    EXPECT_EQ(missing_rights(held, {rule(each.wanted)}), each.missing) << each.wanted;
  EXPECT_EQ(missing_rights(full_authority(), held), std::vector<std::string>{});
}

// Roles and bindings in memory.
struct Roles {
  std::vector<json::object> all;

  [[nodiscard]] RoleObjects objects() const {
    const auto each = [this](std::string_view kind, std::string_view space, std::string_view name,
                             const RoleObjects::Visit& visit) {
      for (const json::object& object : all) {
        const bool named = name.empty() || sync::wire::name_of(object) == name;
        if (sync::wire::dig_text(object, {"kind"}) == kind && named &&
            sync::wire::namespace_of(object) == space)
          visit(object);
      }
    };
    return {.cluster_bindings =
                [each](const auto& visit) { each("ClusterRoleBinding", "", "", visit); },
            .bindings = [each](std::string_view space,
                               const auto& visit) { each("RoleBinding", space, "", visit); },
            .role =
                [each](std::string_view space, std::string_view name, const auto& visit) {
                  each(space.empty() ? "ClusterRole" : "Role", space, name, visit);
                }};
  }
};

const Roles& with_defaults() {
  static const Roles roles = [] {
    Roles made{default_roles()};
    Objects all;
    for (const json::object& object : made.all) all.push_back(&object);
    // Twice, because edit collects view, and admin collects edit.
    for (int round = 0; round < 3; ++round) {
      for (json::object& object : made.all) {
        if (auto rules = aggregated_rules(object, all)) object["rules"] = *std::move(rules);
      }
    }
    return made;
  }();
  return roles;
}

json::object bind(std::string_view kind, std::string_view space, std::string_view role,
                  std::string_view subject) {
  const std::string_view role_kind = role.substr(0, role.find('/'));
  json::object made = {{"kind", kind}};
  made["metadata"] = json::object{{"name", "b"}, {"namespace", space}};
  made["roleRef"] = json::object{{"kind", role_kind}, {"name", role.substr(role.find('/') + 1)}};
  made["subjects"] = json::array({json::parse(subject)});
  return made;
}

TEST(Rbac, DefaultRolesGiveEachItsRights) {
  Roles roles = with_defaults();
  roles.all.push_back(
      bind("RoleBinding", "ns", "ClusterRole/view", R"({"kind":"User","name":"v"})"));
  roles.all.push_back(
      bind("RoleBinding", "ns", "ClusterRole/edit", R"({"kind":"Group","name":"e"})"));
  roles.all.push_back(
      bind("RoleBinding", "ns", "ClusterRole/admin", R"({"kind":"ServiceAccount","name":"a"})"));
  const Identity nobody{"n", "", {"system:authenticated"}};
  const Identity viewer{"v", "", {"system:authenticated"}};
  const Identity editor{"x", "", {"e", "system:authenticated"}};
  const Identity admin{"system:serviceaccount:ns:a", "", {"system:authenticated"}};
  const Identity manager{"system:kube-controller-manager", "", {"system:authenticated"}};
  struct Case {
    const Identity& who;
    std::string_view asked;
    bool allowed;
  };
  const Identity unknown = anonymous();
  const Case cases[] = {
      {unknown, "get /version", true},
      {unknown, "get /api", false},
      {unknown, "get core configmaps kube-public cluster-info", true},
      {unknown, "get core configmaps kube-public other", false},
      {nobody, "get /apis/apps", true},
      {nobody, "get /metrics", false},
      {nobody, "create authorization.k8s.io selfsubjectaccessreviews", true},
      {nobody, "create authorization.k8s.io subjectaccessreviews", false},
      {nobody, "list core pods ns", false},
      {viewer, "list core pods ns", true},
      {viewer, "get core pods/log ns p", true},
      {viewer, "list core pods other", false},
      {viewer, "list core pods", false},
      {viewer, "get core secrets ns s", false},
      {viewer, "delete core pods ns p", false},
      {editor, "delete core pods ns p", true},
      {editor, "get core secrets ns s", true},
      {editor, "update apps statefulsets/scale ns s", true},
      {editor, "create rbac.authorization.k8s.io rolebindings ns", false},
      {editor, "impersonate core serviceaccounts ns a", true},
      {admin, "create rbac.authorization.k8s.io rolebindings ns", true},
      {admin, "delete batch jobs ns j", true},
      {admin, "delete core nodes", false},
      {manager, "update coordination.k8s.io leases kube-system kube-controller-manager", true},
      {manager, "delete core nodes n", false},
  };
  for (const Case& each : cases) {
    EXPECT_EQ(decide_rbac(each.who, question(each.asked), roles.objects()).allowed, each.allowed)
        << each.who.name << ": " << each.asked;
  }
}

TEST(Rbac, SaysWhatAllowsARequest) {
  Roles roles = with_defaults();
  roles.all.push_back(bind("RoleBinding", "ns", "ClusterRole/view",
                           R"({"kind":"ServiceAccount","name":"a","namespace":"other"})"));
  const Identity account{"system:serviceaccount:other:a", "", {}};
  EXPECT_EQ(
      decide_rbac(account, question("get core pods ns"), roles.objects()).reason,
      R"(RBAC: allowed by RoleBinding "b/ns" of ClusterRole "view" to ServiceAccount "a/other")");
  const Identity known{"k", "", {"system:authenticated"}};
  EXPECT_EQ(decide_rbac(known, question("get /api"), roles.objects()).reason,
            R"(RBAC: allowed by ClusterRoleBinding "system:discovery" of ClusterRole )"
            R"("system:discovery" to Group "system:authenticated")");
  EXPECT_EQ(decide_rbac(known, question("get core pods ns"), roles.objects()).reason, "");
}

TEST(Rbac, NamesRolesThatDoNotExist) {
  Roles roles;
  roles.all.push_back(bind("RoleBinding", "ns", "Role/gone", R"({"kind":"User","name":"u"})"));
  const Identity user{"u", "", {}};
  const RbacDecision once = decide_rbac(user, question("get core pods ns"), roles.objects());
  EXPECT_FALSE(once.allowed);
  EXPECT_EQ(once.reason, R"(RBAC: role.rbac.authorization.k8s.io "gone" not found)");
  roles.all.push_back(
      bind("ClusterRoleBinding", "", "ClusterRole/lost", R"({"kind":"User","name":"u"})"));
  EXPECT_EQ(decide_rbac(user, question("get core pods ns"), roles.objects()).reason,
            R"(RBAC: [clusterrole.rbac.authorization.k8s.io "lost" not found, )"
            R"(role.rbac.authorization.k8s.io "gone" not found])");
}

// A ClusterRoleBinding cannot refer to a Role, and no namespace is also a namespace.
TEST(Rbac, IgnoresBindingsThatContradictThemselves) {
  Roles roles;
  json::object role = rule(R"({"kind":"Role","rules":[{"verbs":["*"],"apiGroups":["*"],)"
                           R"("resources":["*"]}]})");
  role["metadata"] = json::object{{"name", "r"}, {"namespace", ""}};
  roles.all = {
      role, bind("ClusterRoleBinding", "", "Role/r", R"({"kind":"User","name":"u"})"),
      bind("ClusterRoleBinding", "", "ClusterRole/r", R"({"kind":"ServiceAccount","name":"u"})")};
  for (const std::string_view name : {"u", "system:serviceaccount::u"}) {
    const Identity user{std::string(name), "", {}};
    EXPECT_FALSE(decide_rbac(user, question("get core pods ns"), roles.objects()).allowed) << name;
  }
}

TEST(DefaultRoles, AreUpstreams) {
  std::map<std::string, int, std::less<>> counts;
  std::set<std::string> names;
  for (const json::object& object : default_roles()) {
    const std::string kind(sync::wire::dig_text(object, {"kind"}));
    ++counts[kind];
    const std::string key = kind + "/" + std::string(sync::wire::namespace_of(object)) + "/" +
                            std::string(sync::wire::name_of(object));
    EXPECT_TRUE(names.insert(key).second) << key << " is there twice";
  }
  EXPECT_EQ(counts["ClusterRole"], 30 + 39);
  EXPECT_EQ(counts["ClusterRoleBinding"], 12 + 39 + 1);
  EXPECT_EQ(counts["Role"], 7 + 1);
  EXPECT_EQ(counts["RoleBinding"], 7 + 1);
  // Each binding refers to a role that exists.
  const RoleObjects objects = with_defaults().objects();
  for (const json::object& object : default_roles()) {
    if (!object.contains("roleRef")) continue;
    const HeldRules held = rules_of_reference(object.at("roleRef").as_object(),
                                              sync::wire::namespace_of(object), objects);
    EXPECT_TRUE(held.problems.empty()) << held.problems.front();
  }
}

TEST(DefaultRoles, AddWhatARoleLacks) {
  const json::object by_default =
      rule(R"({"rules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]},{"verbs":["list"],)"
           R"("apiGroups":[""],"resources":["pods"]}]})");
  json::object role = rule(
      R"({"rules":[{"verbs":["get","watch"],"apiGroups":[""],"resources":["pods","nodes"]}]})");
  EXPECT_EQ(json::serialize(with_default_rules(role, by_default)),
            R"({"rules":[{"verbs":["get","watch"],"apiGroups":[""],"resources":["pods","nodes"]},)"
            R"({"verbs":["list"],"apiGroups":[""],"resources":["pods"]}]})");
  role["metadata"] =
      rule(R"({"annotations":{"rbac.authorization.kubernetes.io/autoupdate":"false"}})");
  EXPECT_EQ(with_default_rules(role, by_default), role);
}

}  // namespace
}  // namespace holdfast::agent::lab
