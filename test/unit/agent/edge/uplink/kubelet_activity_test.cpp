// Which requests count as signs of life of the kubelet: if it is dead, no other caller keeps its
// lease renewed.

#include <gtest/gtest.h>

#include "agent/edge/route/answer.h"
#include "test/unit/agent/edge/uplink/uplink_fixture.h"

namespace holdfast::agent::uplink {
namespace {

using sync::autonomy::LinkState;

const std::string lease_target =
    "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/edge1";
const std::string lease_collection =
    "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";

// Accepts only the tokens "good" and "detector"; the latter may only write the node's status.
std::optional<http::Response> check_token(const http::Request& request) {
  const std::string_view token = request.headers.get("authorization");
  if (token.empty() || token == "Bearer good") return std::nullopt;
  const bool status = request.path() == "/api/v1/nodes/edge1/status";
  const int code = token != "Bearer detector" ? 401 : status ? 200 : 403;
  return json_response(code, code == 200 ? "{}" : sync::wire::status::generic(code).body());
}

http::Request with_token(http::Method method, std::string target, std::string token) {
  http::Request request{.method = method, .target = std::move(target)};
  const bool patch = method == http::Method::patch;
  const char* type = patch ? "application/merge-patch+json" : "application/json";
  request.headers = {{"User-Agent", "kubelet/v1"}, {"Content-Type", type}};
  if (!token.empty()) request.headers.add("Authorization", "Bearer " + token);
  if (method != http::Method::get) {
    request.body = R"({"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":)"
                   R"({"name":"edge1","namespace":"kube-node-lease"},"spec":{}})";
  }
  return request;
}

const UplinkFixtureOptions with_kubelet{
    .set = [](EdgeOptions& options) { options.kubelet_grace = 40s; }};

struct Word {
  const char* what;
  http::Method method;
  std::string target;
  std::string token;
  int status;
  bool counts;
};

TEST(StrangerLease, OnlyAProvenCallerOfTheNodeKeepsItAlive) {
  using enum http::Method;
  const std::string status = "/api/v1/nodes/edge1/status";
  const Word words[] = {
      {"the node's lease", put, lease_target, "", 200, true},
      {"the node's status", patch, status, "", 200, true},
      {"a token that may write the lease by itself", put, lease_target, "good", 200, false},
      {"an invented token, lease", put, lease_target, "invented", 401, false},
      {"an invented token, new lease", post, lease_collection, "invented", 401, false},
      {"an invented token, status", patch, status, "invented", 401, false},
      {"an invented token, reading", get, lease_target, "invented", 401, false},
      {"one who may not, lease", put, lease_target, "detector", 403, false},
      {"one who may, but is no kubelet", patch, status, "detector", 200, false},
  };
  for (const Word& word : words) {
    SCOPED_TRACE(word.what);
    UplinkFixture fixture(with_kubelet);
    fixture.servers[0]->special = check_token;
    ASSERT_TRUE(fixture.until(LinkState::connected));
    fixture.time.run(30s);
    ASSERT_EQ(fixture.ask(with_token(word.method, word.target, word.token)).status, word.status);
    for (int i = 0; i < 4; ++i) {
      fixture.time.run(5s);
      (void)fixture.ask(with_token(word.method, word.target, word.token));
    }
    const int renewals = fixture.cloud.count("PATCH " + lease_target);
    // 75 s after the start the grace period is over, unless something extended it.
    fixture.time.run(25s);
    EXPECT_EQ(fixture.cloud.count("PATCH " + lease_target) > renewals, word.counts);
  }
}

TEST(StrangerLease, OfflineAStrangersLeaseIsUnavailable) {
  UplinkFixture fixture(with_kubelet);
  ASSERT_TRUE(fixture.until(LinkState::connected));
  fixture.servers[0]->cut("refuse");
  ASSERT_TRUE(fixture.until(LinkState::offline));
  for (const auto method : {http::Method::get, http::Method::put}) {
    EXPECT_EQ(fixture.ask(with_token(method, lease_target, "good")).status, 503);
    EXPECT_EQ(fixture.ask(with_token(method, lease_target, "")).status, 200);
  }
}

}  // namespace
}  // namespace holdfast::agent::uplink
