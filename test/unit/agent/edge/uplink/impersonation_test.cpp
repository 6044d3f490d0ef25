// Requests that act as another user: only the API server answers them, and nothing of them is kept.

#include <gtest/gtest.h>

#include "test/unit/agent/edge/uplink/uplink_fixture.h"

namespace holdfast::agent::uplink::impersonated {
namespace {

using sync::autonomy::LinkState;

constexpr const char* secrets = "/api/v1/namespaces/a/secrets";
constexpr const char* lease =
    "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/edge1";

// The headers by which the API server learns that a caller acts as another user.
const http::Header impersonations[] = {
    {"Impersonate-User", "nobody"},          {"impersonate-user", "nobody"},
    {"Impersonate-Group", "system:masters"}, {"Impersonate-Uid", "1"},
    {"Impersonate-Extra-Scopes", "all"},     {"X-Remote-User", "nobody"},
    {"X-Remote-Extra-Scopes", "all"}};

bool impersonates(const http::Request& request) {
  return std::any_of(request.headers.begin(), request.headers.end(), [](const auto& header) {
    const std::string name = to_lower(header.name);
    return name.starts_with("impersonate-") || name.starts_with("x-remote-");
  });
}

http::Request request_of(http::Method method, const std::string& target, std::string body = {}) {
  http::Request request{.method = method, .target = target, .body = std::move(body)};
  request.headers.add("User-Agent", "reader/v1");
  if (method == http::Method::post) request.headers.add("Content-Type", "application/json");
  if (method == http::Method::patch) {
    request.headers.add("Content-Type", "application/strategic-merge-patch+json");
  }
  return request;
}

// A request that is answered while offline, unless it acts as another user.
struct Case {
  const char* what;
  http::Request request;
  int offline;  // the status of its answer while offline
};

const std::string event = R"({"kind":"Event","apiVersion":"v1","metadata":{"name":"e",)"
                          R"("namespace":"a"},"involvedObject":{"namespace":"a"}})";

const Case cases[] = {
    {"a list", request_of(http::Method::get, std::string(secrets) + "?resourceVersion=0"), 200},
    {"a list of the newest", request_of(http::Method::get, secrets), 200},
    {"an object", request_of(http::Method::get, std::string(secrets) + "/s"), 200},
    {"a watch",
     request_of(http::Method::get, std::string(secrets) + "?watch=true&resourceVersion=0"), 200},
    {"discovery", request_of(http::Method::get, "/api/v1"), 200},
    {"the lease", request_of(http::Method::get, lease), 200},
    {"an event", request_of(http::Method::post, "/api/v1/namespaces/a/events", event), 201},
    {"the node's status",
     request_of(http::Method::patch, "/api/v1/nodes/edge1/status", R"({"status":{"phase":"x"}})"),
     200},
};

class Impersonation : public testing::Test {
 protected:
  Impersonation() {
    // Nobody may impersonate; everything else is allowed.
    fixture.servers[0]->special =
        [](const http::Request& request) -> std::optional<http::Response> {
      if (impersonates(request)) return http::Response{.status = 403, .body = "{}"};
      if (request.path() != "/api/v1") return std::nullopt;
      return http::Response{.status = 200,
                            .headers = {{"Content-Type", "application/json"}},
                            .body = R"({"kind":"APIResourceList"})"};
    };
    fixture.cloud.put(secrets, "s", R"({"data":{"k":"dHJlYXN1cmU="}})");
    fixture.cloud.put("/api/v1/nodes", "edge1", R"({"status":{"phase":"before"}})");
    EXPECT_TRUE(fixture.until(LinkState::connected));
    for (const Case& each : cases) {
      if (each.request.method == http::Method::get) fixture.ask(each.request);
    }
    EXPECT_EQ(fixture.ask("/api/v1/nodes?fieldSelector=metadata.name%3Dedge1").status, 200);
    fixture.time.run(5s);
  }

  UplinkFixture fixture{{.set = [](EdgeOptions& options) { options.cache_agents = {"*"}; }}};
};

TEST_F(Impersonation, IsTheApiServersToJudge) {
  for (const Case& each : cases) {
    for (const http::Header& header : impersonations) {
      http::Request request = each.request;
      request.headers.add(header.name, header.value);
      EXPECT_EQ(fixture.ask(request).status, 403) << each.what << " with " << header.name;
    }
  }
  EXPECT_EQ(fixture.metric("holdfast_edge_outbox_entries"), std::vector<std::string>{" 0"});
}

TEST_F(Impersonation, IsRefusedOffline) {
  fixture.cut_link();
  for (const Case& each : cases) {
    for (const http::Header& header : impersonations) {
      http::Request request = each.request;
      request.headers.add(header.name, header.value);
      const http::Response answer = fixture.ask(request);
      EXPECT_EQ(answer.status, 503) << each.what << " with " << header.name << ": " << answer.body;
      EXPECT_NE(answer.body.find("who acts as another user"), std::string::npos) << answer.body;
    }
  }
  EXPECT_EQ(fixture.metric("holdfast_edge_outbox_entries"), std::vector<std::string>{" 0"});
  for (const Case& each : cases) {
    EXPECT_EQ(fixture.ask(each.request).status, each.offline) << each.what << " as itself";
  }
}

// What another user was shown is not shown to the caller later.
TEST_F(Impersonation, LeavesNothingBehind) {
  fixture.servers[0]->special = [](const http::Request&) { return std::nullopt; };
  fixture.cloud.put("/api/v1/namespaces/b/secrets", "t", R"({"data":{"k":"dHJlYXN1cmU="}})");
  for (const char* target :
       {"/api/v1/namespaces/b/secrets", "/api/v1/namespaces/b/secrets/t", "/openapi/v2"}) {
    http::Request request = request_of(http::Method::get, target);
    request.headers.add("Impersonate-User", "owner");
    const int status = fixture.ask(request).status;
    EXPECT_TRUE(status == 200 || target == std::string("/openapi/v2")) << target << status;
  }
  fixture.time.run(5s);
  fixture.cut_link();
  for (const char* target :
       {"/api/v1/namespaces/b/secrets", "/api/v1/namespaces/b/secrets/t", "/openapi/v2"}) {
    EXPECT_EQ(fixture.ask(request_of(http::Method::get, target)).status, 503) << target;
  }
}

}  // namespace
}  // namespace holdfast::agent::uplink::impersonated
