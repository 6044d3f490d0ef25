// Invented credentials leave no trace in the cache, and one caller cannot use up the space of all.

#include <gtest/gtest.h>

#include "agent/edge/route/answer.h"
#include "test/unit/agent/edge/uplink/uplink_fixture.h"

namespace holdfast::agent::uplink {
namespace {

using sync::autonomy::LinkState;

http::Request asks(std::string target, const std::string& authorization) {
  http::Request request{.target = std::move(target)};
  request.headers = {{"User-Agent", "kubelet/v1"}};
  if (!authorization.empty()) request.headers.add("Authorization", authorization);
  return request;
}

http::Request token_request(const std::string& authorization) {
  http::Request request = asks("/api/v1/namespaces/a/serviceaccounts/s/token", authorization);
  request.method = http::Method::post;
  request.headers.add("Content-Type", "application/json");
  request.body = R"({"status":{"token":"t","expirationTimestamp":"2035-01-01T00:00:00Z"}})";
  return request;
}

// Like a real API server: an invalid bearer token is refused; another scheme makes the caller
// anonymous, who may read /version.
std::optional<http::Response> store_credential_answer(const http::Request& request) {
  const std::string_view credentials = request.headers.get("authorization");
  if (credentials.empty() || credentials.starts_with("Bearer good")) return std::nullopt;
  if (!credentials.starts_with("Bearer") && request.path() == "/version") return std::nullopt;
  return json_response(401, sync::wire::status::generic(401).body());
}

TEST(OwnerQuota, InventedCredentialsLeaveNothingBehind) {
  UplinkFixture fixture;
  fixture.servers[0]->special = store_credential_answer;
  ASSERT_TRUE(fixture.until(LinkState::connected));
  const std::size_t scopes = fixture.edge->scopes().all().size();
  for (int i = 0; i < 1010; ++i) {
    for (const char* scheme : {"Bearer invented", "Basic "}) {
      const std::string invented = scheme + std::to_string(i);
      (void)fixture.ask(asks("/version", invented));
      (void)fixture.ask(asks("/api/v1/namespaces/a/configmaps", invented));
    }
  }
  EXPECT_EQ(fixture.edge->scopes().all().size(), scopes);
  ASSERT_EQ(fixture.ask(token_request("")).status, 200);
  ASSERT_EQ(fixture.ask(asks("/version", "Bearer good")).status, 200);
  fixture.servers[0]->cut("refuse");
  ASSERT_TRUE(fixture.until(LinkState::offline));
  EXPECT_EQ(fixture.ask(token_request("")).status, 200) << "the node's tokens are still cached";
  EXPECT_EQ(fixture.ask(asks("/version", "Basic 7")).status, 503);
  EXPECT_EQ(fixture.ask(asks("/version", "Bearer good")).status, 503)
      << "its credentials were never accepted";
}

TEST(OwnerQuota, OneCallerCannotTakeTheRoomOfAll) {
  UplinkFixture fixture;
  fixture.servers[0]->special = store_credential_answer;
  ASSERT_TRUE(fixture.until(LinkState::connected));
  const auto count = [&fixture](bool node) {
    int found = 0;
    for (const auto& [key, scope] : fixture.edge->scopes().all())
      found += (key.owner == "node") == node;
    return found;
  };
  const int before = count(true);
  for (int i = 0; i < 520; ++i) {
    const std::string target = "/api/v1/namespaces/n" + std::to_string(i) + "/configmaps";
    ASSERT_EQ(fixture.ask(asks(target, "Bearer good")).status, 200);
  }
  EXPECT_EQ(count(false), 64);
  EXPECT_EQ(fixture.ask("/api/v1/services?resourceVersion=0").status, 200);
  EXPECT_EQ(count(true), before + 1);
}

TEST(OwnerQuota, CredentialsThatAreRefusedLaterAreNotUsedAnyMore) {
  UplinkFixture fixture;
  bool revoked = false;
  fixture.servers[0]->special = [&revoked](const http::Request& request) {
    auto refusal = store_credential_answer(request);
    if (revoked && request.headers.has("authorization")) {
      refusal = json_response(401, sync::wire::status::generic(401).body());
    }
    return refusal;
  };
  ASSERT_TRUE(fixture.until(LinkState::connected));
  ASSERT_EQ(fixture.ask(asks("/api/v1/namespaces/a/configmaps", "Bearer good")).status, 200);
  fixture.time.run(5s);
  revoked = true;
  fixture.servers[0]->cut("refuse");
  ASSERT_TRUE(fixture.until(LinkState::offline));
  fixture.servers[0]->restore();
  ASSERT_TRUE(fixture.until(LinkState::connected));
  const std::size_t from = fixture.cloud.asked.size();
  fixture.time.run(10min);
  EXPECT_EQ(fixture.cloud.count("GET /api/v1/namespaces/a/configmaps", from), 0);
}

}  // namespace
}  // namespace holdfast::agent::uplink
