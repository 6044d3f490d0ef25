// Objects that a node may get, but neither list nor watch, are cached one by one; and watches from
// versions older than the cache go to the cloud.

#include <gtest/gtest.h>

#include "agent/edge/route/answer.h"
#include "platform/loop/timer.h"
#include "test/unit/agent/edge/uplink/uplink_fixture.h"

namespace holdfast::agent::uplink {
namespace {

using sync::autonomy::LinkState;

constexpr const char* claims = "/api/v1/namespaces/a/persistentvolumeclaims";
constexpr const char* volumes = "/api/v1/persistentvolumes";
constexpr const char* own_pods = "/api/v1/pods?fieldSelector=spec.nodeName%3Dedge1";
constexpr const char* pod_with_claim = R"({"spec":{"nodeName":"edge1","volumes":[{"name":"v",)"
                                       R"("persistentVolumeClaim":{"claimName":"data"}}]}})";

std::string claim(const std::string& name) { return std::string(claims) + "/" + name; }

std::string field_of(const http::Response& response, std::initializer_list<std::string_view> path) {
  return sync::wire::text_at(response.body, path).value().value_or("none");
}

TEST(GotByName, WhatWasGotIsServedOfflineAndAfterAPowerCut) {
  UplinkFixture fixture;
  fixture.cloud.put(claims, "data", R"({"spec":{"volumeName":"pv-1"}})");
  ASSERT_TRUE(fixture.until(LinkState::connected));
  EXPECT_EQ(fixture.ask(claim("data")).status, 200);
  EXPECT_EQ(fixture.ask(claim("gone")).status, 404);
  fixture.time.run(1s);
  const std::size_t from = fixture.cloud.asked.size();
  fixture.time.run(10min);
  EXPECT_EQ(fixture.cloud.count("GET " + std::string(claims) + "?", from), 0)
      << "the agent must not try to list them";
  EXPECT_EQ(fixture.cloud.count("GET " + claim("data"), from), 0);

  for (const bool restarted : {false, true}) {
    fixture.lose_link(restarted);
    const http::Response data = fixture.ask(claim("data"));
    EXPECT_EQ(data.status, 200) << restarted;
    EXPECT_EQ(field_of(data, {"spec", "volumeName"}), "pv-1");
    EXPECT_EQ(field_of(data, {"kind"}), "PersistentVolumeClaim");
    EXPECT_EQ(fixture.ask(claim("gone")).status, 404) << "the API server answered 404 for it";
    EXPECT_EQ(fixture.ask(claim("never")).status, 503) << "it was never requested";
    fixture.restore_link();
  }
}

TEST(GotByName, IsRefreshedByARejoinByARequestAndByAPod) {
  UplinkFixture fixture;
  fixture.cloud.put(claims, "data", R"({"spec":{"volumeName":"pv-1"}})");
  ASSERT_TRUE(fixture.until(LinkState::connected));
  EXPECT_EQ(fixture.ask(std::string(own_pods) + "&resourceVersion=0").status, 200);
  EXPECT_EQ(fixture.ask(claim("data")).status, 200);
  const auto offline_value = [&fixture] {
    fixture.cut_link();
    const std::string value = field_of(fixture.ask(claim("data")), {"spec", "volumeName"});
    fixture.restore_link();
    fixture.time.run(5s);
    return value;
  };
  fixture.cloud.put(claims, "data", R"({"spec":{"volumeName":"pv-2"}})");
  EXPECT_EQ(offline_value(), "pv-1");
  EXPECT_EQ(offline_value(), "pv-2") << "refreshed by the last rejoin";

  fixture.cloud.put(claims, "data", R"({"spec":{"volumeName":"pv-3"}})");
  EXPECT_EQ(field_of(fixture.ask(claim("data") + "?resourceVersion=0"), {"spec", "volumeName"}),
            "pv-3");
  EXPECT_EQ(offline_value(), "pv-3");

  fixture.time.run(1min);
  fixture.cloud.put(claims, "data", R"({"spec":{"volumeName":"pv-4"}})");
  fixture.cloud.put(volumes, "pv-4", R"({"spec":{"capacity":{}}})");
  fixture.cloud.put("/api/v1/namespaces/a/pods", "p", pod_with_claim);
  fixture.time.run(10s);
  EXPECT_EQ(offline_value(), "pv-4");
  fixture.cut_link();
  EXPECT_EQ(fixture.ask(std::string(volumes) + "/pv-4").status, 200) << "found through the claim";
}

// The Node authorizer refuses a Secret until it has seen the pod that refers to it.
TEST(GotByName, AListOfOneNameThatWasRefusedForAMomentIsWatchedAgain) {
  UplinkFixture fixture;
  const std::string secrets = "/api/v1/namespaces/a/secrets";
  const std::string list = secrets + "?fieldSelector=metadata.name%3Ds";
  fixture.cloud.put(secrets, "s", R"({"data":{"v":"one"}})");
  ASSERT_TRUE(fixture.until(LinkState::connected));
  fixture.servers[0]->special = [&secrets](const http::Request& request) {
    const bool refused = request.path().starts_with(secrets);
    return refused ? std::optional(to_response(sync::wire::status::forbidden(
                         {"", "secrets"}, "s", "no relationship found")))
                   : std::nullopt;
  };
  EXPECT_EQ(fixture.ask(list).status, 403);
  fixture.time.run(5s);
  fixture.servers[0]->special = [](const http::Request&) { return std::nullopt; };
  EXPECT_EQ(fixture.ask(list).status, 200);
  fixture.time.run(1s);
  fixture.cloud.put(secrets, "s", R"({"data":{"v":"two"}})");
  fixture.time.run(1s);
  fixture.cut_link();
  const http::Response answer = fixture.ask(list);
  EXPECT_EQ(answer.status, 200);
  EXPECT_NE(answer.body.find("\"two\""), std::string::npos) << answer.body;
}

TEST(GotByName, AWatchFromBeforeTheCacheGoesToTheCloudWhileThatIsThere) {
  UplinkFixture fixture;
  fixture.cloud.put("/api/v1/namespaces/a/configmaps", "one");
  ASSERT_TRUE(fixture.until(LinkState::connected));
  const std::string target = "/api/v1/namespaces/a/configmaps?watch=true&timeoutSeconds=60";
  fixture.cloud.put("/api/v1/namespaces/a/configmaps", "two");
  EXPECT_EQ(fixture.ask("/api/v1/namespaces/a/configmaps?resourceVersion=0").status, 200);
  const std::size_t from = fixture.cloud.asked.size();
  const std::string first = fixture.cloud.events.front().object;
  const std::string version = sync::wire::read_header(first).value().resource_version;
  const http::Response open = fixture.ask(target + "&resourceVersion=" + version);
  EXPECT_EQ(open.status, 200) << open.body;
  EXPECT_TRUE(open.stream);
  EXPECT_EQ(fixture.cloud.count("GET " + target, from), 1);
  fixture.cut_link();
  EXPECT_EQ(fixture.ask(target + "&resourceVersion=" + version).status, 410);
}

// Never ends.
class Drip final : public http::BodyStream {
 public:
  asio::awaitable<Result<std::string>> next() override {
    const auto executor = co_await asio::this_coro::executor;
    co_await loop::sleep_until(loop::clock_of(executor).mono() + 9s);
    co_return std::string(" ");
  }
  void cancel() override {}
};

TEST(GotByName, AnAnswerWithoutAnEndIsAFaultOfItsScopeAlone) {
  UplinkFixture fixture;
  fixture.cloud.put("/api/v1/namespaces/a/pods", "p",
                    R"({"spec":{"nodeName":"edge1","volumes":[)"
                    R"({"persistentVolumeClaim":{"claimName":"endless"}},)"
                    R"({"persistentVolumeClaim":{"claimName":"good"}}]}})");
  fixture.cloud.put(claims, "good");
  int asked = 0;
  fixture.servers[0]->special = [&](const http::Request& request) -> std::optional<http::Response> {
    if (request.path() != claim("endless")) return std::nullopt;
    ++asked;
    http::Response response = json_response(200, "");
    response.stream = std::make_shared<Drip>();
    return response;
  };
  ASSERT_TRUE(fixture.until(LinkState::connected));
  const WallTime connected = fixture.time.clock().wall();
  EXPECT_EQ(fixture.ask(own_pods).status, 200);
  fixture.time.run(10min);
  EXPECT_GE(asked, 2) << "it is tried again";
  EXPECT_LE(asked, 10);
  const std::string scopes = fixture.admin("/v1/scopes");
  EXPECT_NE(scopes.find(R"("state":"timeout")"), std::string::npos) << scopes;
  EXPECT_EQ(fixture.state(), LinkState::connected) << fixture.reason();
  EXPECT_LE(fixture.longest_gap(connected), 20s);
  fixture.cut_link();
  EXPECT_EQ(fixture.ask(claim("good")).status, 200);
  EXPECT_EQ(fixture.ask(claim("endless")).status, 503);
}

}  // namespace
}  // namespace holdfast::agent::uplink
