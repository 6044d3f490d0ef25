// What the agent must never do by itself: answer that an API does not exist, or request a token.

#include <gtest/gtest.h>

#include "platform/time.h"
#include "test/unit/agent/edge/uplink/uplink_fixture.h"

namespace holdfast::agent::uplink {
namespace {

using sync::autonomy::LinkState;

http::Response json_answer(int status, std::string body) {
  return {
      .status = status, .headers = {{"Content-Type", "application/json"}}, .body = std::move(body)};
}

// A client that gets 404 assumes that the API was removed: garbage collectors and namespace
// controllers then delete objects that they can no longer see.
TEST(Never, IsAnApiSaidToBeMissingUnlessTheApiServerSaysSo) {
  struct Case {
    std::string target;
    int connected;  // the API server's status; 0: not requested while connected
    int offline;
  };
  const Case cases[] = {
      {"/api", 200, 200},
      {"/apis", 200, 200},
      {"/api/v1", 0, 503},
      {"/apis/apps/v1", 200, 200},
      {"/apis/batch/v1", 0, 503},
      {"/apis/example.com/v1", 404, 503},     // it may have been installed since then
      {"/apis/metrics.k8s.io/v1", 503, 503},  // an aggregated API server that is down
      {"/apis/policy/v1", 500, 503},
      {"/openapi/v3", 200, 200},
      {"/openapi/v2", 0, 503},
      {"/version", 200, 200},
  };
  UplinkFixture fixture;
  fixture.servers[0]->special =
      [&cases](const http::Request& request) -> std::optional<http::Response> {
    for (const Case& each : cases) {
      if (each.target != request.target || each.connected == 0) continue;
      return json_answer(each.connected, R"({"of":")" + each.target + "\"}");
    }
    return std::nullopt;
  };
  ASSERT_TRUE(fixture.until(LinkState::connected));
  for (const Case& each : cases) {
    if (each.connected == 0) continue;
    EXPECT_EQ(fixture.ask(each.target).status, each.connected) << each.target;
  }
  for (const bool restarted : {false, true}) {
    fixture.lose_link(restarted);
    for (const Case& each : cases) {
      const http::Response answer = fixture.ask(each.target);
      EXPECT_EQ(answer.status, each.offline) << each.target << ", restarted: " << restarted;
      if (each.offline != 200) continue;
      EXPECT_EQ(answer.body, R"({"of":")" + each.target + "\"}");
    }
    fixture.restore_link();
  }
}

constexpr const char* token_path = "/api/v1/namespaces/a/serviceaccounts/default/token";

http::Request request_for_audience(const std::string& audience) {
  http::Request request{.method = http::Method::post, .target = token_path};
  request.headers.add("User-Agent", "kubelet/v1");
  request.headers.add("Content-Type", "application/json");
  request.body = R"({"kind":"TokenRequest","apiVersion":"authentication.k8s.io/v1","spec":{)"
                 R"("audiences":[")" +
                 audience + R"("],"boundObjectRef":{"kind":"Pod","name":"p","uid":"u1"}}})";
  return request;
}

// A token grants rights: the agent must not obtain one that nobody has requested, or for another
// audience.
TEST(Never, IsATokenAskedForThatTheKubeletDidNotAskFor) {
  UplinkFixture fixture;
  fixture.servers[0]->special = [&fixture](const http::Request& request) {
    std::optional<http::Response> answer;
    if (request.path() != token_path) return answer;
    const std::string ends = format_rfc3339(fixture.time.clock().wall() + 2h);
    answer = json_answer(201, R"({"kind":"TokenRequest","status":{"token":"t","asked":)" +
                                  request.body + R"(,"expirationTimestamp":")" + ends + "\"}}");
    return answer;
  };
  fixture.cloud.put("/api/v1/namespaces/a/pods", "p",
                    R"({"spec":{"nodeName":"edge1","serviceAccountName":"default","volumes":[)"
                    R"({"name":"t","projected":{"sources":[)"
                    R"({"serviceAccountToken":{"path":"one","audience":"one"}},)"
                    R"({"serviceAccountToken":{"path":"two","audience":"two"}}]}}]}})");
  ASSERT_TRUE(fixture.until(LinkState::connected));
  ASSERT_EQ(fixture.ask("/api/v1/pods?fieldSelector=spec.nodeName%3Dedge1").status, 200);
  const http::Response first = fixture.ask(request_for_audience("one"));
  ASSERT_EQ(first.status, 201);
  const auto asked = [&fixture] { return fixture.cloud.count("POST " + std::string(token_path)); };
  fixture.time.run(1h);
  EXPECT_EQ(asked(), 1);

  fixture.cut_link();
  EXPECT_EQ(fixture.ask(request_for_audience("one")).body, first.body);
  EXPECT_EQ(fixture.ask(request_for_audience("two")).status, 503);
  EXPECT_EQ(fixture.ask(request_for_audience("")).status, 503);
  fixture.time.run(2h);
  EXPECT_EQ(fixture.ask(request_for_audience("one")).body, first.body) << "past its end, too";
  fixture.restore_link();
  fixture.time.run(10min);
  EXPECT_EQ(asked(), 1) << "neither a pod nor the reconnection is a reason";
}

}  // namespace
}  // namespace holdfast::agent::uplink
