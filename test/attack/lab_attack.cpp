// Attacks on what holdfast-lab gives its user: control interfaces, fault proxies, and the roles of
// its API server.

#include "test/attack/attack_fixture.h"

namespace holdfast::attack {
namespace {

const std::string roles = "/apis/rbac.authorization.k8s.io/v1";
const std::string roles_here = roles + "/namespaces/ns";

std::string binding(const std::string& name, const std::string& kind, const std::string& role) {
  return R"({"metadata":{"name":")" + name + R"("},"roleRef":{"apiGroup":)" +
         R"("rbac.authorization.k8s.io","kind":")" + kind + R"(","name":")" + role +
         R"("},"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User",)" +
         R"("name":"alice"}]})";
}

std::string role(const std::string& name, const std::string& rules) {
  return R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role","metadata":{"name":")" +
         name + R"("},"rules":[)" + rules + "]}";
}

// A caller who may read ConfigMaps and write roles in his namespace.
const std::string own_rules =
    R"({"apiGroups":[""],"resources":["configmaps"],"verbs":["get","list","watch"]},)"
    R"({"apiGroups":["rbac.authorization.k8s.io"],"resources":["roles","rolebindings"],)"
    R"("verbs":["get","list","create","update","patch","delete"]})";
const std::string everything = R"({"apiGroups":["*"],"resources":["*"],"verbs":["*"]})";
const std::string secrets = R"({"apiGroups":[""],"resources":["secrets"],"verbs":["get"]})";

class LabRoles : public Attack {
 protected:
  void start() {
    ASSERT_NO_FATAL_FAILURE(start_lab({"--rbac=true"}));
    ASSERT_EQ(as_admin("POST", roles_here + "/roles", role("own", own_rules)).status, 201);
    ASSERT_EQ(as_admin("POST", roles_here + "/rolebindings", binding("own", "Role", "own")).status,
              201);
    ASSERT_EQ(as_alice({.target = map_list}).status, 200);
  }
  [[nodiscard]] Answer as_alice(Ask question) const {
    question.bearer = "alice-token";
    return ask(lab_port, question);
  }
  void expect_no_more_rights(const std::string& after) const {
    for (const std::string& target : {secrets_path + "/treasure", treasure_list, secrets_path}) {
      const Answer answer = as_alice({.target = target});
      EXPECT_EQ(answer.status, 403) << target << " after " << after;
      EXPECT_FALSE(answer.has(treasure)) << target << " after " << after;
    }
  }
};

TEST_F(LabRoles, NobodyClimbsByWritingRoles) {
  ASSERT_NO_FATAL_FAILURE(start());
  const std::string json_patch = R"([{"op":"add","path":"/rules/-","value":)" + secrets + "}]";
  const std::string merge_patch = R"({"rules":[)" + own_rules + "," + secrets + "]}";
  const struct {
    const char* method;
    std::string target;
    std::string body;
    std::string type = "application/json";
  } climbs[] = {
      {"POST", roles_here + "/roles", role("more", everything)},
      {"POST", roles_here + "/roles", role("more", secrets)},
      {"POST", roles_here + "/roles?dryRun=All&dryRun=", role("more", secrets)},
      {"PUT", roles_here + "/roles/own", role("own", own_rules + "," + secrets)},
      {"PUT", roles_here + "/roles/new", role("new", secrets)},
      {"PATCH", roles_here + "/roles/own", json_patch, "application/json-patch+json"},
      {"PATCH", roles_here + "/roles/own", merge_patch, "application/merge-patch+json"},
      {"PATCH", roles_here + "/roles/own", merge_patch, "application/strategic-merge-patch+json"},
      {"PATCH", roles_here + "/roles/own?fieldManager=a&force=true", role("own", secrets),
       "application/apply-patch+yaml"},
      {"PATCH", roles_here + "/roles/new?fieldManager=a", role("new", secrets),
       "application/apply-patch+yaml"},
      {"POST", roles_here + "/rolebindings", binding("up", "ClusterRole", "cluster-admin")},
      {"POST", roles_here + "/rolebindings",
       binding("up", "ClusterRole", "system:aggregate-to-edit")},
      {"POST", roles_here + "/rolebindings", binding("up", "Role", "not-there")},
      {"PUT", roles_here + "/rolebindings/own", binding("own", "ClusterRole", "cluster-admin")},
      {"PATCH", roles_here + "/rolebindings/own",
       R"({"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole",)"
       R"("name":"admin"}})",
       "application/merge-patch+json"},
      {"POST", roles + "/clusterrolebindings", binding("up", "ClusterRole", "cluster-admin")},
      {"POST", roles + "/clusterroles", role("more", everything)},
      {"PATCH", roles + "/clusterroles/view", merge_patch, "application/merge-patch+json"},
      {"POST", roles + "/namespaces/kube-system/rolebindings", binding("up", "Role", "own")},
      {"POST", token_path, R"({"spec":{}})"},
      {"POST", "/api/v1/namespaces/ns/pods/p/exec?command=id", ""},
      {"POST", "/api/v1/namespaces/ns/serviceaccounts", R"({"metadata":{"name":"mine"}})"},
      {"POST", "/apis/certificates.k8s.io/v1/certificatesigningrequests", "{}"},
  };
  for (const auto& climb : climbs) {
    const std::string what = std::string(climb.method) + " " + climb.target;
    const Answer answer = as_alice({.target = climb.target,
                                    .method = climb.method,
                                    .body = climb.body,
                                    .headers = {"Content-Type: " + climb.type}});
    EXPECT_GE(answer.status, 400) << what << " " << climb.body;
    EXPECT_LT(answer.status, 500) << what << " " << climb.body;
    expect_no_more_rights(what);
  }
  const Answer same = as_alice({.target = roles_here + "/roles",
                                .method = "POST",
                                .body = role("same", own_rules),
                                .headers = {"Content-Type: application/json"}});
  EXPECT_EQ(same.status, 201) << "what she has herself she may pass on: " << same.body;
}

TEST_F(LabRoles, NoDetourLeadsToTheSecret) {
  ASSERT_NO_FATAL_FAILURE(start());
  const std::string maps = "/api/v1/namespaces/ns/configmaps";
  const std::string one = secrets_path + "/treasure";
  const Ask detours[] = {
      {.target = one},
      {.target = one, .method = "HEAD", .limit = 1s},
      {.target = one, .method = "OPTIONS"},
      {.target = "/api/v1/secrets"},
      {.target = secrets_path + "?watch=true&timeoutSeconds=1"},
      {.target = "/api/v1/watch/namespaces/ns/secrets/treasure?timeoutSeconds=1"},
      {.target = maps + "/../secrets/treasure"},
      {.target = maps + "/%2e%2e/secrets/treasure"},
      {.target = maps + "/..%2fsecrets%2ftreasure"},
      {.target = "/api/v1/namespaces/ns//secrets/treasure"},
      {.target = "//api/v1/namespaces/ns/secrets/treasure"},
      {.target = "/api/v1/namespaces/ns%2fsecrets%2ftreasure"},
      {.target = "/api/v1/namespaces/ns/Secrets/treasure"},
      {.target = "/api/v1/namespaces/ns/secrets/treasure/status"},
      {.target = "http://127.0.0.1/api/v1/namespaces/ns/secrets/treasure"},
      {.target = one + "?access_token=admin-token"},
      {.target = one, .headers = {"Impersonate-User: admin"}},
      {.target = one, .headers = {"Impersonate-User: alice", "Impersonate-Group: system:masters"}},
      {.target = one, .headers = {"impersonate-group: system:masters"}},
      {.target = one, .headers = {"Impersonate-Uid: 1"}},
      {.target = one, .headers = {"Impersonate-Extra-Scopes: all"}},
      {.target = one, .headers = {"X-Remote-User: admin", "X-Remote-Group: system:masters"}},
      {.target = one, .headers = {"X-Forwarded-User: admin", "X-Forwarded-For: 127.0.0.1"}},
      {.target = one, .headers = {"Authorization: Bearer admin-token"}},
      {.target = one, .headers = {"Authorization: Basic YWRtaW46YWRtaW4="}},
      {.target = maps, .headers = {"X-HTTP-Method-Override: DELETE"}},
      {.target = maps + "?fieldSelector=metadata.name%3Dtreasure&kind=Secret"},
  };
  for (const Ask& detour : detours) {
    const Answer answer = as_alice(detour);
    const std::string what = detour.method + " " + detour.target + " " +
                             (detour.headers.empty() ? std::string() : detour.headers.front());
    EXPECT_FALSE(answer.has(treasure)) << what;
    EXPECT_FALSE(answer.has(treasure_decoded)) << what;
    if (detour.target.starts_with(maps + "?") || detour.target == maps) continue;
    EXPECT_FALSE(answer.served()) << what << ": " << answer.status;
  }
  EXPECT_EQ(as_admin("GET", one).status, 200) << "nobody has removed it";
}

class LabControl : public Attack {
 protected:
  // Starts a command of holdfast-lab with a control listener at `port_`.
  void start(const std::vector<std::string>& words, const std::string& page) {
    page_ = page;
    Launch launch{.argv = {"holdfast-lab"}, .log = file("control.log")};
    launch.argv.insert(launch.argv.end(), words.begin(), words.end());
    program_ = std::make_unique<Program>(launch);
    ASSERT_TRUE(eventually(20s, [this] { return is_served(); })) << read_file(file("control.log"));
  }
  [[nodiscard]] bool is_served() const { return ask(port_, {.target = page_}).served(); }
  [[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

  // Nobody but root, and no web page, gets an answer to these, and root still does afterwards.
  void expect_only_root_is_served(const std::vector<Ask>& questions) {
    for (const Ask& question : questions) {
      const Answer stranger = ask_as_nobody(port_, question);
      EXPECT_EQ(stranger.status, 403) << question.target << " for the user nobody";
      for (const char* header : {"Origin: http://evil.example", "Origin: null"}) {
        Ask by_page = question;
        by_page.headers.emplace_back(header);
        EXPECT_EQ(ask(port_, by_page).status, 403) << question.target << " with " << header;
      }
      for (const char* host : {"evil.example", "127.0.0.1.evil.example", "127.0.0.1:1"}) {
        Ask rebound = question;
        rebound.host = host;
        EXPECT_EQ(ask(port_, rebound).status, 403) << question.target << " with Host " << host;
      }
    }
    const std::string seen = run_as_nobody([this] {
      std::vector<Socket> idle;
      for (int i = 0; i < 300; ++i) idle.push_back(connect_to(port_, "127.0.0.1", 1s));
      for (const Socket& socket : idle) (void)socket.send("POST /", 100ms);
      return std::string("done");
    });
    EXPECT_EQ(seen, "done");
    (void)converse(port_,
                   "POST " + page_ + " HTTP/1.1\r\nHost: " + address() +
                       "\r\nContent-Length: 99999999999\r\n\r\n" + std::string(4UL << 20, 'x'),
                   2s);
    EXPECT_TRUE(eventually(10s, [this] { return is_served(); })) << "root is still served";
    expect_within(*program_, "holdfast-lab", lab_budget, "strangers at the control interface");
  }

  static constexpr long lab_budget = 128L * 1024;
  const std::uint16_t port_ = free_port();
  std::unique_ptr<Program> program_;

 private:
  std::string page_;
};

TEST_F(LabControl, OnlyRootSilencesHollowNodes) {
  ASSERT_NO_FATAL_FAILURE(start_lab());
  write_file(file("lab.kubeconfig"),
             "apiVersion: v1\nkind: Config\ncurrent-context: up\nclusters:\n- name: up\n"
             "  cluster: {server: \"http://127.0.0.1:" +
                 std::to_string(lab_port) +
                 "\"}\nusers:\n- name: up\n  user: {token: admin-token}\n"
                 "contexts:\n- name: up\n  context: {cluster: up, user: up}\n");
  ASSERT_NO_FATAL_FAILURE(start(
      {"nodes", "--count=2", "--kubeconfig=" + file("lab.kubeconfig"), "--control=" + address()},
      "/v1/nodes"));
  expect_only_root_is_served({{.target = "/v1/nodes"},
                              {.target = "/v1/silence",
                               .method = "POST",
                               .body = R"({"names":["hollow-0","hollow-1"]})"}});
  EXPECT_FALSE(ask(port_, {.target = "/v1/nodes"}).has(R"("silent":true)"));
}

// A proxy connects in the name of the user who runs it. Whoever could make one here would be root
// to the edge agent, which knows its callers by their user.
TEST_F(LabControl, OnlyRootMakesProxies) {
  ASSERT_NO_FATAL_FAILURE(start_all());
  const std::uint16_t there = free_port();
  ASSERT_NO_FATAL_FAILURE(start(
      {"proxy", "127.0.0.1:0", "127.0.0.1:" + std::to_string(lab_port), "--admin=" + address()},
      "/proxies"));
  const std::string made = R"({"name":"mine","listen":"127.0.0.1:)" + std::to_string(there) +
                           R"(","upstream":"127.0.0.1:)" + std::to_string(edge_port) + R"("})";
  expect_only_root_is_served({{.target = "/proxies"},
                              {.target = "/proxies", .method = "POST", .body = made},
                              {.target = "/populate", .method = "POST", .body = "[" + made + "]"},
                              {.target = "/reset", .method = "POST"},
                              {.target = "/proxies/proxy", .method = "DELETE"}});
  EXPECT_FALSE(connect_to(there, "127.0.0.1", 1s).open()) << "nobody made a proxy";
}

}  // namespace
}  // namespace holdfast::attack
