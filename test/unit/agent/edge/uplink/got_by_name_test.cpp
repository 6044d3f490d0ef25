// Objects that a node may get, but neither list nor watch, are cached one by one; and watches from
// versions older than the cache go to the cloud.

#include <gtest/gtest.h>

#include "agent/edge/route/answer.h"
#include "test/unit/agent/edge/uplink/site.h"

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
  Site site;
  site.cloud.put(claims, "data", R"({"spec":{"volumeName":"pv-1"}})");
  ASSERT_TRUE(site.until(LinkState::connected));
  EXPECT_EQ(site.ask(claim("data")).status, 200);
  EXPECT_EQ(site.ask(claim("gone")).status, 404);
  site.time.run(1s);
  const std::size_t from = site.cloud.asked.size();
  site.time.run(10min);
  EXPECT_EQ(site.cloud.count("GET " + std::string(claims) + "?", from), 0)
      << "the agent must not try to list them";
  EXPECT_EQ(site.cloud.count("GET " + claim("data"), from), 0);

  for (const bool restarted : {false, true}) {
    site.lose_link(restarted);
    const http::Response data = site.ask(claim("data"));
    EXPECT_EQ(data.status, 200) << restarted;
    EXPECT_EQ(field_of(data, {"spec", "volumeName"}), "pv-1");
    EXPECT_EQ(field_of(data, {"kind"}), "PersistentVolumeClaim");
    EXPECT_EQ(site.ask(claim("gone")).status, 404) << "the API server answered 404 for it";
    EXPECT_EQ(site.ask(claim("never")).status, 503) << "it was never requested";
    site.restore_link();
  }
}

TEST(GotByName, IsRefreshedByARejoinByARequestAndByAPod) {
  Site site;
  site.cloud.put(claims, "data", R"({"spec":{"volumeName":"pv-1"}})");
  ASSERT_TRUE(site.until(LinkState::connected));
  EXPECT_EQ(site.ask(std::string(own_pods) + "&resourceVersion=0").status, 200);
  EXPECT_EQ(site.ask(claim("data")).status, 200);
  const auto offline_value = [&site] {
    site.cut_link();
    const std::string value = field_of(site.ask(claim("data")), {"spec", "volumeName"});
    site.restore_link();
    site.time.run(5s);
    return value;
  };
  site.cloud.put(claims, "data", R"({"spec":{"volumeName":"pv-2"}})");
  EXPECT_EQ(offline_value(), "pv-1");
  EXPECT_EQ(offline_value(), "pv-2") << "refreshed by the last rejoin";

  site.cloud.put(claims, "data", R"({"spec":{"volumeName":"pv-3"}})");
  EXPECT_EQ(field_of(site.ask(claim("data") + "?resourceVersion=0"), {"spec", "volumeName"}),
            "pv-3");
  EXPECT_EQ(offline_value(), "pv-3");

  site.time.run(1min);
  site.cloud.put(claims, "data", R"({"spec":{"volumeName":"pv-4"}})");
  site.cloud.put(volumes, "pv-4", R"({"spec":{"capacity":{}}})");
  site.cloud.put("/api/v1/namespaces/a/pods", "p", pod_with_claim);
  site.time.run(10s);
  EXPECT_EQ(offline_value(), "pv-4");
  site.cut_link();
  EXPECT_EQ(site.ask(std::string(volumes) + "/pv-4").status, 200) << "found through the claim";
}

// The Node authorizer refuses a Secret until it has seen the pod that refers to it.
TEST(GotByName, AListOfOneNameThatWasRefusedForAMomentIsWatchedAgain) {
  Site site;
  const std::string secrets = "/api/v1/namespaces/a/secrets";
  const std::string list = secrets + "?fieldSelector=metadata.name%3Ds";
  site.cloud.put(secrets, "s", R"({"data":{"v":"one"}})");
  ASSERT_TRUE(site.until(LinkState::connected));
  site.servers[0]->special = [&secrets](const http::Request& request) {
    const bool refused = request.path().starts_with(secrets);
    return refused ? std::optional(to_response(sync::wire::status::forbidden(
                         {"", "secrets"}, "s", "no relationship found")))
                   : std::nullopt;
  };
  EXPECT_EQ(site.ask(list).status, 403);
  site.time.run(5s);
  site.servers[0]->special = [](const http::Request&) { return std::nullopt; };
  EXPECT_EQ(site.ask(list).status, 200);
  site.time.run(1s);
  site.cloud.put(secrets, "s", R"({"data":{"v":"two"}})");
  site.time.run(1s);
  site.cut_link();
  const http::Response answer = site.ask(list);
  EXPECT_EQ(answer.status, 200);
  EXPECT_NE(answer.body.find("\"two\""), std::string::npos) << answer.body;
}

TEST(GotByName, AWatchFromBeforeTheCacheGoesToTheCloudWhileThatIsThere) {
  Site site;
  site.cloud.put("/api/v1/namespaces/a/configmaps", "one");
  ASSERT_TRUE(site.until(LinkState::connected));
  const std::string target = "/api/v1/namespaces/a/configmaps?watch=true&timeoutSeconds=60";
  site.cloud.put("/api/v1/namespaces/a/configmaps", "two");
  EXPECT_EQ(site.ask("/api/v1/namespaces/a/configmaps?resourceVersion=0").status, 200);
  const std::size_t from = site.cloud.asked.size();
  const std::string first = site.cloud.events.front().object;
  const std::string version = sync::wire::read_header(first).value().resource_version;
  const http::Response open = site.ask(target + "&resourceVersion=" + version);
  EXPECT_EQ(open.status, 200) << open.body;
  EXPECT_TRUE(open.stream);
  EXPECT_EQ(site.cloud.count("GET " + target, from), 1);
  site.cut_link();
  EXPECT_EQ(site.ask(target + "&resourceVersion=" + version).status, 410);
}

}  // namespace
}  // namespace holdfast::agent::uplink
