// A node's requests to a lab with the Node authorizer; and compressed answers.

#include "platform/http/inflate.h"
#include "sync/wire/read.h"
#include "test/unit/agent/apiserver/api_server_fixture.h"

namespace holdfast::test {
namespace {

namespace json = boost::json;

constexpr std::string_view node_pods = "/api/v1/namespaces/default/pods";
constexpr std::string_view node_secrets = "/api/v1/namespaces/default/secrets";

agent::lab::ApiServerOptions guarded() {
  agent::lab::ApiServerOptions options = options_without_controllers();
  options.tokens = "root,admin,1,system:masters\nnode,system:node:edge1,2,system:nodes\n";
  return options;
}

TestResponse as_root(ApiServerFixture& fixture, const std::string& target,
                     const std::string& body) {
  return fixture.ask({.method = "POST", .target = target, .body = body, .token = "root"});
}

struct Tried {
  std::string method;
  std::string target;
  std::string body;
  int status;
};

TEST(LabNodes, MayDoWhatConcernsThemselves) {
  ApiServerFixture fixture(guarded());
  for (const char* name : {"mine", "other"}) {
    as_root(fixture, std::string(node_secrets),
            R"({"metadata":{"name":")" + std::string(name) + "\"}}");
  }
  as_root(fixture, std::string(node_pods),
          R"({"metadata":{"name":"p"},"spec":{"nodeName":"edge1","containers":[{"name":"c",)"
          R"("image":"x"}],"volumes":[{"name":"v","secret":{"secretName":"mine"}}]}})");
  as_root(fixture, std::string(node_pods),
          R"({"metadata":{"name":"q"},"spec":{"nodeName":"edge2","containers":[{"name":"c",)"
          R"("image":"x"}]}})");
  const std::string pods(node_pods);
  const std::string secrets(node_secrets);
  const Tried all[] = {
      {"GET", "/api/v1/pods?fieldSelector=spec.nodeName%3Dedge1", "", 200},
      {"GET", "/api/v1/pods", "", 403},
      {"GET", pods + "/p", "", 200},
      {"GET", pods + "/q", "", 403},
      {"GET", pods + "/p/log", "", 403},
      {"GET", pods + "/p/exec?command=id", "", 403},
      {"POST", pods + "/p/exec?command=id", "", 403},
      {"GET", pods + "/p/portforward", "", 403},
      {"POST", pods + "/p/portforward", "", 403},
      {"GET", secrets + "/mine", "", 200},
      {"GET", secrets + "?fieldSelector=metadata.name%3Dmine", "", 200},
      {"GET", secrets + "/other", "", 403},
      {"GET", secrets, "", 403},
      {"GET", "/api/v1/nodes", "", 403},
      {"GET", "/api/v1/services", "", 200},
      {"POST", "/api/v1/nodes", R"({"metadata":{"name":"edge2"}})", 403},
      {"POST", "/api/v1/nodes", R"({"metadata":{"name":"edge1"}})", 201},
      {"GET", "/api/v1/nodes/edge1", "", 200},
      {"PUT", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/edge1",
       R"({"metadata":{"name":"edge1"}})", 201},
      {"DELETE", pods + "/q", "", 403},
      {"DELETE", pods + "/p", "", 200},
  };
  for (const Tried& tried : all) {
    const TestResponse response = fixture.ask(
        {.method = tried.method, .target = tried.target, .body = tried.body, .token = "node"});
    EXPECT_EQ(response.status, tried.status)
        << tried.method << " " << tried.target << ": " << response.body;
  }
  const TestResponse refused = fixture.ask({.target = pods + "/q", .token = "node"});
  EXPECT_EQ(
      sync::wire::dig_text(refused.object(), {"message"}),
      R"(pods "q" is forbidden: User "system:node:edge1" cannot get resource "pods" in API )"
      R"(group "" in the namespace "default": no relationship found between node 'edge1' and )"
      "this object");
}

// The status of a request of node edge1 with its certificate, which every server with --tls-dir
// accepts.
int status_for_a_certificate(ApiServerFixture& fixture, const std::string& organization,
                             const std::string& target) {
  return fixture
      .ask({.target = target,
            .peer = {.common_name = "system:node:edge1", .organizations = {organization}}})
      .status;
}

TEST(LabNodes, AreKnownAlsoWhereAllOthersMayDoEverything) {
  struct Row {
    bool authorizer;
    std::string organization;
    int all_pods;
  };
  const Row rows[] = {
      {true, "system:nodes", 403}, {true, "others", 200}, {false, "system:nodes", 200}};
  for (const Row& row : rows) {
    agent::lab::ApiServerOptions options = options_without_controllers();
    options.node_authorizer = row.authorizer;
    ApiServerFixture fixture(std::move(options));
    EXPECT_EQ(fixture.ask({.target = "/api/v1/pods"}).status, 200);
    EXPECT_EQ(status_for_a_certificate(fixture, row.organization, "/api/v1/pods"), row.all_pods)
        << row.authorizer << " " << row.organization;
    EXPECT_EQ(status_for_a_certificate(fixture, row.organization,
                                       "/api/v1/pods?fieldSelector=spec.nodeName%3Dedge1"),
              200);
  }
}

TEST(LabNodes, ReadEverythingWhereTheAuthorizerIsSwitchedOff) {
  agent::lab::ApiServerOptions options = guarded();
  options.node_authorizer = false;
  ApiServerFixture fixture(std::move(options));
  EXPECT_EQ(fixture.ask({.target = "/api/v1/pods", .token = "node"}).status, 200);
  EXPECT_EQ(fixture.ask({.target = "/api/v1/pods"}).status, 403)
      << "an anonymous caller is not a node";
}

TEST(LabCompression, IsForLargeListsOfThoseWhoTakeIt) {
  ApiServerFixture fixture(options_without_controllers());
  for (const char* name : {"a", "b"}) {
    json::object map = {{"metadata", json::object{{"name", name}}}};
    map["data"] = json::object{{"k", std::string(80UL << 10, 'x')}};
    fixture.post("/api/v1/namespaces/default/configmaps", map);
  }
  const std::string list = "/api/v1/configmaps";
  const TestResponse plain = fixture.ask({.target = list});
  EXPECT_FALSE(plain.headers.has("Content-Encoding"));
  EXPECT_FALSE(plain.headers.get("Audit-Id").empty());
  const TestResponse packed = fixture.ask({.target = list, .accept_encoding = "br, gzip"});
  EXPECT_EQ(packed.headers.get("Content-Encoding"), "gzip");
  EXPECT_EQ(packed.headers.get("Vary"), "Accept-Encoding");
  EXPECT_LT(packed.body.size() * 20, plain.body.size());
  EXPECT_EQ(http::inflate(packed.body).value(), plain.body);
  const TestResponse small =
      fixture.ask({.target = list + "?fieldSelector=metadata.name%3Da", .accept_encoding = "gzip"});
  EXPECT_FALSE(small.headers.has("Content-Encoding"));
  const TestResponse refused = fixture.ask({.target = list, .accept_encoding = "gzip;q=0"});
  EXPECT_FALSE(refused.headers.has("Content-Encoding"));
}

struct Typed {
  std::string target;
  int status;
  std::string type;
};

// The content types that a kube-apiserver 1.36.2 uses for each path.
TEST(LabDocuments, HaveTheRealContentTypes) {
  const std::string text = "text/plain; charset=utf-8";
  const Typed all[] = {
      {"/healthz", 200, text},
      {"/livez", 200, text},
      {"/readyz?verbose", 200, text},
      {"/readyz/nosuch", 404, text},
      {"/version", 200, "application/json"},
      {"/api", 200, "application/json"},
      {"/apis", 200, "application/json"},
      {"/metrics", 200, "text/plain; version=0.0.4; charset=utf-8; escaping=underscores"},
      {"/openapi/v2", 200, "application/json"},
      {"/openapi/v3", 200, text},
      {"/openapi/v3/api/v1", 200, "application/json"},
      {"/openapi/v3/nosuch", 404, ""},
      {"/nosuch", 404, text},
      {"/logs", 404, text},
      {"/apis/nosuch", 404, text},
      {"/apis/nosuch/v1", 404, text},
      {"/apis/apps/v9", 404, "application/json"},
      {"/apis/apps/v9/things", 404, "application/json"},
      {"/api/v1/nosuch", 404, "application/json"},
      {"/api/v2", 404, "application/json"},
  };
  ApiServerFixture fixture(options_without_controllers());
  for (const Typed& typed : all) {
    const TestResponse response = fixture.ask({.target = typed.target});
    EXPECT_EQ(response.status, typed.status) << typed.target;
    EXPECT_EQ(response.headers.get("Content-Type"), typed.type) << typed.target;
    EXPECT_FALSE(response.headers.get("Audit-Id").empty()) << typed.target;
    EXPECT_EQ(response.headers.get("Cache-Control"), "no-cache, private") << typed.target;
  }
}

}  // namespace
}  // namespace holdfast::test
