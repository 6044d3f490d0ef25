// An agent that runs for days: scopes that its kubelet no longer uses are dropped, all others stay.

#include <gtest/gtest.h>

#include <algorithm>

#include "test/unit/agent/edge/uplink/uplink_fixture.h"

namespace holdfast::agent::uplink {
namespace {

using sync::autonomy::LinkState;

constexpr const char* secrets = "/api/v1/namespaces/a/secrets";
constexpr const char* pods = "/api/v1/pods?fieldSelector=spec.nodeName%3Dedge1";

std::string named(const std::string& collection, const std::string& name) {
  return collection + "?fieldSelector=metadata.name%3D" + name;
}

// The cached scopes without those of the agent's own settings: "secrets metadata.name=x".
std::vector<std::string> scopes_of(UplinkFixture& fixture) {
  std::vector<std::string> found;
  for (const auto& [key, scope] : fixture.edge->scopes().all()) {
    if (key.field_selector == "metadata.name=yurt-hub-cfg") continue;
    found.push_back(key.resource + (key.field_selector.empty() ? "" : " " + key.field_selector));
  }
  std::sort(found.begin(), found.end());
  return found;
}

using Names = std::vector<std::string>;

void hurry(EdgeOptions& options) {
  options.housekeeping_interval = 1min;
  options.lease_renew_interval = 30s;
  options.housekeeping.orphaned = 2min;
  options.housekeeping.settled = 2min;
  options.housekeeping.unused = 12min;
  options.flush_interval = 30s;
}

const std::string pod_with_secret =
    R"({"spec":{"nodeName":"edge1","volumes":[{"secret":{"secretName":"one"}}]}})";

TEST(EdgeHousekeeping, SecretsOfPodsThatAreGoneAreDropped) {
  UplinkFixture fixture({.set = hurry});
  for (const char* name : {"one", "two"}) fixture.cloud.put(secrets, name);
  fixture.cloud.put("/api/v1/namespaces/a/pods", "p", pod_with_secret);
  ASSERT_TRUE(fixture.until(LinkState::connected));
  const auto ask = [&fixture](const std::string& target) {
    EXPECT_EQ(fixture.ask(target + "&resourceVersion=0").status, 200) << target;
  };
  ask(pods);
  ask(named(secrets, "one"));
  ask(named(secrets, "two"));
  const Names all{"pods spec.nodeName=edge1", "secrets metadata.name=one",
                  "secrets metadata.name=two"};
  EXPECT_EQ(scopes_of(fixture), all);
  fixture.time.run(100s);
  EXPECT_EQ(scopes_of(fixture), all) << "a recently requested scope has a grace period";
  ask(pods);

  // No pod refers to "two"; but nothing is dropped while the cloud is unreachable.
  fixture.servers[0]->cut("refuse");
  fixture.time.run(150s);
  EXPECT_EQ(scopes_of(fixture), all);
  EXPECT_EQ(fixture.ask(named(secrets, "one")).status, 200);
  fixture.servers[0]->restore();
  ASSERT_TRUE(fixture.until(LinkState::connected));
  fixture.time.run(70s);
  EXPECT_EQ(scopes_of(fixture), (Names{all[0], all[1]}));
  const auto dropped = fixture.metric("holdfast_edge_scopes_dropped_total");
  EXPECT_TRUE(std::count(dropped.begin(), dropped.end(), "{reason=\"orphaned\"} 1"));
  EXPECT_EQ(dropped.size(), 5u) << "one time series for each reason";

  // Its upstream watch has ended, too; the scope returns when it is requested.
  const std::size_t from = fixture.cloud.asked.size();
  fixture.time.run(2min);
  EXPECT_EQ(fixture.cloud.count("GET " + named(secrets, "two"), from), 0);
  ask(named(secrets, "two"));
  EXPECT_EQ(scopes_of(fixture), all);

  // Once the pod is gone for good, a restart does not find the scope.
  fixture.cloud.remove("/api/v1/namespaces/a/pods", "p");
  ask(pods);
  fixture.time.run(4min);
  EXPECT_EQ(scopes_of(fixture), Names{all[0]});
  fixture.stop();
  fixture.start();
  EXPECT_EQ(scopes_of(fixture), Names{all[0]});
}

TEST(EdgeHousekeeping, WhatIsWatchedOrAskedForStaysAndTheRestGoesAfterItsTime) {
  UplinkFixture fixture({.set = hurry});
  fixture.cloud.put("/api/v1/services", "web");
  fixture.cloud.put("/api/v1/namespaces/a/configmaps", "one");
  fixture.cloud.put("/apis/discovery.k8s.io/v1/endpointslices", "web");
  ASSERT_TRUE(fixture.until(LinkState::connected));
  const auto ask = [&fixture](const std::string& target) { return fixture.ask(target).status; };
  EXPECT_EQ(ask("/api/v1/services?resourceVersion=0"), 200);
  EXPECT_EQ(ask("/api/v1/namespaces/a/configmaps?resourceVersion=0"), 200);
  EXPECT_EQ(ask("/apis/discovery.k8s.io/v1/endpointslices?resourceVersion=0"), 200);
  http::Response open =
      fixture.ask("/api/v1/services?watch=true&resourceVersion=0&timeoutSeconds=36000");
  ASSERT_TRUE(open.stream);
  for (int i = 0; i < 8; ++i) {
    fixture.time.run(2min);
    EXPECT_EQ(ask("/api/v1/namespaces/a/configmaps?resourceVersion=0"), 200);
  }
  EXPECT_EQ(scopes_of(fixture), (Names{"configmaps", "services"}));
  fixture.time.run(10min);
  open.stream->cancel();
  open.stream.reset();
  fixture.time.run(4min);
  EXPECT_EQ(scopes_of(fixture), Names{"services"}) << "the time counts from the end of the watch";
  fixture.time.run(10min);
  EXPECT_EQ(scopes_of(fixture), Names{});
}

}  // namespace
}  // namespace holdfast::agent::uplink
