// RBAC through the API: rights, escalation, reviews and impersonation, as an attacker and as
// `kubectl auth can-i` would try them.

#include <boost/json.hpp>

#include "sync/wire/read.h"
#include "test/unit/agent/apiserver/api_server_fixture.h"

namespace holdfast::test {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;

constexpr std::string_view roles_api = "/apis/rbac.authorization.k8s.io/v1";

agent::lab::ApiServerOptions with_roles() {
  agent::lab::ApiServerOptions options;
  options.tokens =
      "root,admin,1,\"system:masters\"\nann,ann,2\nbob,bob,3,\"devs\"\nnode,system:node:a,4,"
      "\"system:nodes\"\neve,eve,5\n";
  options.rbac = true;
  return options;
}

// A server with RBAC on which ann may edit the namespace default and bob may do nothing.
struct RbacServer {
  RbacServer() {
    fixture.advance(1s);  // collects the rules of admin, edit and view
    EXPECT_EQ(post("root", std::string(roles_api) + "/namespaces/default/rolebindings",
                   R"({"metadata":{"name":"ann"},"roleRef":{"kind":"ClusterRole","name":"edit"},)"
                   R"("subjects":[{"kind":"User","name":"ann"}]})")
                  .status,
              201);
  }
  TestResponse ask(std::string token, std::string method, std::string target,
                   std::string body = {}) {
    return fixture.ask({.method = std::move(method),
                        .target = std::move(target),
                        .body = std::move(body),
                        .content_type = "application/json",
                        .token = std::move(token)});
  }
  TestResponse post(std::string token, std::string target, std::string body) {
    return ask(std::move(token), "POST", std::move(target), std::move(body));
  }
  static std::string message(const TestResponse& answer) {
    return std::string(sync::wire::dig_text(answer.object(), {"message"}));
  }

  ApiServerFixture fixture{with_roles()};
};

std::string called(std::string_view name, std::string_view rest = "") {
  std::string text = R"({"metadata":{"name":")" + std::string(name) + "\"}";
  if (!rest.empty()) text.append(",").append(rest);
  return text + "}";
}

TEST(RbacServerTest, StreamsOfPodsNeedTheirOwnRights) {
  RbacServer server;
  const std::string pods = "/api/v1/namespaces/default/pods";
  EXPECT_EQ(server
                .post("root", pods,
                      called("p", R"("spec":{"nodeName":"n","containers":[)"
                                  R"({"name":"c","image":"i"}]})"))
                .status,
            201);
  // bob may get the streams of pods and create none; eve may create them and get none.
  const std::pair<std::string, std::string> rights[] = {{"bob", "get"}, {"eve", "create"}};
  for (const auto& [user, verb] : rights) {
    const std::string role = R"("rules":[{"verbs":[")" + verb +
                             R"("],"apiGroups":[""],"resources":["pods/log","pods/exec",)" +
                             R"("pods/portforward"]}])";
    EXPECT_EQ(
        server
            .post("root", std::string(roles_api) + "/namespaces/default/roles", called(verb, role))
            .status,
        201);
    const std::string binding = R"("roleRef":{"kind":"Role","name":")" + verb +
                                R"("},"subjects":[{"kind":"User","name":")" + user + R"("}])";
    EXPECT_EQ(server
                  .post("root", std::string(roles_api) + "/namespaces/default/rolebindings",
                        called(user, binding))
                  .status,
              201);
  }
  struct Case {
    std::string token, method, subresource;
    int status;  // 404: allowed, but there is no such Node
  };
  const Case cases[] = {
      {"ann", "GET", "log", 404},          {"bob", "GET", "log", 404},
      {"node", "GET", "log", 403},         {"", "GET", "log", 403},
      {"ann", "GET", "exec", 404},         {"ann", "POST", "exec", 404},
      {"bob", "GET", "exec", 403},         {"bob", "POST", "exec", 403},
      {"node", "GET", "exec", 403},        {"node", "POST", "exec", 403},
      {"eve", "GET", "exec", 403},         {"eve", "POST", "exec", 404},
      {"eve", "GET", "portforward", 403},  {"eve", "POST", "portforward", 404},
      {"eve", "GET", "log", 403},          {"bob", "POST", "portforward", 403},
      {"ann", "POST", "portforward", 404}, {"bob", "GET", "portforward", 403},
      {"ann", "DELETE", "exec", 405},      {"root", "DELETE", "exec", 405},
      {"root", "POST", "log", 405},        {"root", "PATCH", "log", 405},
  };
  for (const Case& each : cases) {
    const TestResponse answer =
        server.ask(each.token, each.method, pods + "/p/" + each.subresource);
    EXPECT_EQ(answer.status, each.status)
        << each.token << " " << each.method << " " << each.subresource << ": " << answer.body;
  }
}

TEST(RbacServerTest, GivesEachCallerHisRights) {
  RbacServer server;
  struct Case {
    std::string token, method, target;
    int status;
  };
  const std::string pods = "/api/v1/namespaces/default/pods";
  const Case cases[] = {
      {"root", "GET", "/api/v1/nodes", 200},
      {"ann", "GET", pods, 200},
      {"ann", "GET", pods + "?watch=true&timeoutSeconds=1", 200},
      {"ann", "GET", "/api/v1/namespaces/default/secrets", 200},
      {"ann", "GET", "/api/v1/namespaces/kube-system/secrets", 403},
      {"ann", "GET", "/api/v1/pods", 403},
      {"ann", "GET", "/api/v1/nodes", 403},
      {"ann", "DELETE", pods + "/none", 404},
      {"bob", "GET", pods, 403},
      {"bob", "DELETE", pods + "/none", 403},
      {"bob", "GET", "/apis", 200},
      {"bob", "GET", "/version", 200},
      {"", "GET", "/version", 200},
      {"", "GET", "/apis", 403},
      {"", "GET", pods, 403},
      {"forged", "GET", "/version", 401},
      {"node", "GET", "/api/v1/nodes/a", 404},
      {"node", "GET", "/api/v1/namespaces/default/secrets/s", 403},
      {"node", "GET", std::string(roles_api) + "/clusterroles", 403},
  };
  for (const Case& each : cases)
    EXPECT_EQ(server.ask(each.token, each.method, each.target).status, each.status)
        << each.token << " " << each.method << " " << each.target;
  EXPECT_EQ(RbacServer::message(server.ask("bob", "GET", pods)),
            R"(pods is forbidden: User "bob" cannot list resource "pods" in API group "" in the )"
            R"(namespace "default")");
  EXPECT_EQ(RbacServer::message(server.ask("bob", "PATCH",
                                           "/apis/apps/v1/namespaces/default/"
                                           "deployments/d/scale",
                                           "{}")),
            R"(deployments.apps "d" is forbidden: User "bob" cannot patch resource )"
            R"("deployments/scale" in API group "apps" in the namespace "default")");
  EXPECT_EQ(RbacServer::message(server.ask("bob", "GET", "/metrics")),
            R"(forbidden: User "bob" cannot get path "/metrics")");
}

TEST(RbacServerTest, NobodyGrantsWhatHeDoesNotHave) {
  RbacServer server;
  const std::string local = std::string(roles_api) + "/namespaces/default/";
  // ann may manage roles and bindings in her namespace, but has no more than edit.
  EXPECT_EQ(server
                .post("root", local + "roles",
                      called("writers", R"("rules":[{"verbs":["create","update","patch","get"],)"
                                        R"("apiGroups":["rbac.authorization.k8s.io"],)"
                                        R"("resources":["roles","rolebindings"]}])"))
                .status,
            201);
  EXPECT_EQ(server
                .post("root", local + "rolebindings",
                      called("writers", R"("roleRef":{"kind":"Role","name":"writers"},)"
                                        R"("subjects":[{"kind":"User","name":"ann"}])"))
                .status,
            201);
  const TestResponse refused = server.post(
      "ann", local + "roles",
      called("more", R"("rules":[{"verbs":["get","proxy"],"apiGroups":[""],"resources":["pods",)"
                     R"("nodes"]}])"));
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(RbacServer::message(refused),
            R"(roles.rbac.authorization.k8s.io "more" is forbidden: user "ann" (groups=)"
            R"(["system:authenticated"]) is attempting to grant RBAC permissions not currently )"
            "held:\n"
            R"({APIGroups:[""], Resources:["nodes"], Verbs:["get" "proxy"]})"
            "\n"
            R"({APIGroups:[""], Resources:["pods"], Verbs:["proxy"]})");
  EXPECT_EQ(server
                .post("ann", local + "roles",
                      called("less", R"("rules":[{"verbs":["get"],"apiGroups":[""],)"
                                     R"("resources":["pods"]}])"))
                .status,
            201);
  const std::string grown = R"({"rules":[{"verbs":["*"],"apiGroups":["*"],"resources":["*"]}]})";
  EXPECT_EQ(server.fixture
                .ask({.method = "PATCH",
                      .target = local + "roles/less",
                      .body = grown,
                      .content_type = "application/merge-patch+json",
                      .token = "ann"})
                .status,
            403);
  for (const auto& [role, status] :
       {std::pair{"cluster-admin", 403}, {"admin", 403}, {"edit", 201}, {"missing", 404}}) {
    EXPECT_EQ(server
                  .post("ann", local + "rolebindings",
                        called(std::string("to-") + role,
                               R"("roleRef":{"kind":"ClusterRole","name":")" + std::string(role) +
                                   R"("},"subjects":[{"kind":"User","name":"ann"}])"))
                  .status,
              status)
        << role;
  }
  // The verb bind allows it for one role.
  EXPECT_EQ(server
                .post("root", local + "roles",
                      called("binder", R"("rules":[{"verbs":["bind"],"apiGroups":)"
                                       R"(["rbac.authorization.k8s.io"],"resources":)"
                                       R"(["clusterroles"],"resourceNames":["admin"]}])"))
                .status,
            201);
  EXPECT_EQ(server
                .post("root", local + "rolebindings",
                      called("binder", R"("roleRef":{"kind":"Role","name":"binder"},)"
                                       R"("subjects":[{"kind":"User","name":"ann"}])"))
                .status,
            201);
  EXPECT_EQ(server
                .post("ann", local + "rolebindings",
                      called("now", R"("roleRef":{"kind":"ClusterRole","name":"admin"},)"
                                    R"("subjects":[{"kind":"User","name":"ann"}])"))
                .status,
            201);
}

TEST(RbacServerTest, RefusesDamagedRolesAndBindings) {
  RbacServer server;
  struct Case {
    std::string path, body, message;
  };
  const Case cases[] = {
      {"/namespaces/default/roles",
       called("r", R"("rules":[{"apiGroups":[""],"resources":["x"]}])"),
       "rules[0].verbs: Required value: verbs must contain at least one value"},
      {"/namespaces/default/roles",
       called("r", R"("rules":[{"verbs":["get"],"nonResourceURLs":["/"]}])"),
       "namespaced rules cannot apply to non-resource URLs"},
      {"/clusterroles", called("r", R"("rules":[{"verbs":["get"],"resources":["x"]}])"),
       "rules[0].apiGroups: Required value: resource rules must supply at least one api group"},
      {"/clusterroles", called("r", R"("aggregationRule":{})"),
       "at least one clusterRoleSelector required if aggregationRule is non-nil"},
      {"/clusterrolebindings", called("b", R"("roleRef":{"kind":"Role","name":"x"})"),
       R"(roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole")"},
      {"/clusterrolebindings",
       called("b", R"("roleRef":{"kind":"ClusterRole","name":"view"},"subjects":[{"kind":)"
                   R"("ServiceAccount","name":"s"}])"),
       "subjects[0].namespace: Required value"},
      {"/clusterroles", called("a/b"), "may not contain '/'"},
  };
  for (const Case& each : cases) {
    const TestResponse answer = server.post("root", std::string(roles_api) + each.path, each.body);
    EXPECT_EQ(answer.status, 422) << each.body;
    EXPECT_NE(RbacServer::message(answer).find(each.message), std::string::npos)
        << RbacServer::message(answer);
  }
  const TestResponse moved =
      server.fixture.ask({.method = "PATCH",
                          .target = std::string(roles_api) + "/namespaces/default/rolebindings/ann",
                          .body = R"({"roleRef":{"name":"admin"}})",
                          .content_type = "application/merge-patch+json",
                          .token = "root"});
  EXPECT_EQ(moved.status, 422);
  EXPECT_NE(RbacServer::message(moved).find("cannot change roleRef"), std::string::npos);
}

TEST(RbacServerTest, AnswersWhatCallersMayDo) {
  RbacServer server;
  const std::string reviews = "/apis/authorization.k8s.io/v1/";
  const auto allowed = [](const TestResponse& answer) {
    return sync::wire::dig_bool(answer.object(), {"status", "allowed"});
  };
  const std::string own = R"({"spec":{"resourceAttributes":{"namespace":"default","verb":"delete",)"
                          R"("resource":"pods"}}})";
  EXPECT_TRUE(allowed(server.post("ann", reviews + "selfsubjectaccessreviews", own)));
  EXPECT_FALSE(allowed(server.post("bob", reviews + "selfsubjectaccessreviews", own)));
  EXPECT_EQ(server.post("", reviews + "selfsubjectaccessreviews", own).status, 403);
  const std::string other =
      R"({"spec":{"user":"ann","nonResourceAttributes":{"verb":"get","path":"/metrics"}}})";
  EXPECT_EQ(server.post("ann", reviews + "subjectaccessreviews", other).status, 403);
  EXPECT_FALSE(allowed(server.post("root", reviews + "subjectaccessreviews", other)));
  const TestResponse local = server.post(
      "root", reviews + "namespaces/default/localsubjectaccessreviews",
      R"({"metadata":{"namespace":"default"},"spec":{"user":"ann","resourceAttributes":)"
      R"({"namespace":"default","verb":"list","resource":"secrets"}}})");
  EXPECT_EQ(json::serialize(local.object().at("status")),
            R"({"allowed":true,"reason":"RBAC: allowed by RoleBinding \"ann/default\" of )"
            R"(ClusterRole \"edit\" to User \"ann\""})");
  EXPECT_EQ(
      server.post("root", reviews + "subjectaccessreviews", R"({"spec":{"user":"u"}})").status,
      422);
  const TestResponse rules = server.post("bob", reviews + "selfsubjectrulesreviews",
                                         R"({"spec":{"namespace":"default"}})");
  EXPECT_EQ(rules.status, 201);
  EXPECT_EQ(json::serialize(rules.object().at("status").at("incomplete")), "false");
  EXPECT_NE(rules.body.find("selfsubjectaccessreviews"), std::string::npos);
  EXPECT_NE(rules.body.find("/healthz"), std::string::npos);
  EXPECT_EQ(rules.body.find("secrets"), std::string::npos);
  EXPECT_EQ(server.post("bob", reviews + "selfsubjectrulesreviews", "{}").status, 400);
}

TEST(RbacServerTest, ImpersonationNeedsTheRight) {
  RbacServer server;
  const auto as = [&server](const std::string& token, const http::Headers& headers) {
    TestRequest request{.target = "/api/v1/namespaces/default/secrets", .token = token};
    request.headers = headers;
    return server.fixture.ask(request);
  };
  EXPECT_EQ(as("root", {{"Impersonate-User", "ann"}}).status, 200);
  EXPECT_EQ(as("root", {{"Impersonate-User", "bob"}}).status, 403);
  EXPECT_EQ(as("root", {{"Impersonate-User", "x"}, {"Impersonate-Group", "system:masters"}}).status,
            200);
  EXPECT_EQ(as("root", {{"Impersonate-Group", "devs"}}).status, 400);
  // bob may not act as anybody, and ann only as service accounts of her namespace.
  const TestResponse refused = as("bob", {{"Impersonate-User", "ann"}});
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(RbacServer::message(refused),
            R"(users "ann" is forbidden: User "bob" cannot impersonate resource "users" in API )"
            R"(group "" at the cluster scope)");
  const std::string account = "system:serviceaccount:default:default";
  EXPECT_EQ(as("ann", {{"Impersonate-User", account}}).status,
            403);  // as an account without rights
  EXPECT_NE(RbacServer::message(as("ann", {{"Impersonate-User", account}})).find(account),
            std::string::npos);
  for (const std::string_view header :
       {"Impersonate-Group", "Impersonate-Uid", "Impersonate-Extra-scopes"}) {
    const TestResponse answer =
        as("ann", {{"Impersonate-User", account}, {std::string(header), "system:masters"}});
    EXPECT_EQ(answer.status, 403) << header;
    EXPECT_NE(RbacServer::message(answer).find(R"(User "ann" cannot impersonate)"),
              std::string::npos)
        << header;
  }
  EXPECT_EQ(as("node", {{"Impersonate-User", "admin"}}).status, 403);
}

TEST(RbacServerTest, RefusesCallersFromOtherMachinesWithoutCredentials) {
  agent::lab::ApiServerOptions options;
  options.requires_identity = options.refuses_anonymous = true;  // as on a non-loopback address
  ApiServerFixture fixture(options);
  EXPECT_EQ(fixture.ask({.target = "/api/v1/secrets"}).status, 401);
  EXPECT_EQ(fixture.ask({.target = "/api/v1/secrets", .token = "guessed"}).status, 401);
  const http::Headers as_root = {{"Impersonate-User", "r"},
                                 {"Impersonate-Group", "system:masters"}};
  EXPECT_EQ(fixture.ask({.target = "/api/v1/secrets", .headers = as_root}).status, 401);
  EXPECT_EQ(fixture
                .ask({.target = "/api/v1/secrets",
                      .peer = {.common_name = "u", .organizations = {"devs"}}})
                .status,
            403);
  EXPECT_EQ(fixture
                .ask({.target = "/api/v1/secrets",
                      .peer = {.common_name = "u", .organizations = {"system:masters"}}})
                .status,
            200);
}

TEST(RbacServerTest, KeepsTheDefaultRolesThroughARestart) {
  RbacServer server;
  server.fixture.restart();
  server.fixture.advance(1s);
  const std::int64_t revision = server.fixture.server().registry().revision();
  for (int round = 0; round < 5; ++round) server.fixture.advance(10s);
  EXPECT_EQ(server.fixture.server().registry().revision(), revision);
  EXPECT_EQ(server.ask("ann", "GET", "/api/v1/namespaces/default/pods").status, 200);
  const TestResponse view =
      server.ask("root", "GET", std::string(roles_api) + "/clusterroles/view");
  EXPECT_EQ(view.object().at("rules").as_array().size(), 12u);
}

}  // namespace
}  // namespace holdfast::test
