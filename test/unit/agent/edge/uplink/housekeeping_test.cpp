// An agent that runs for days: scopes that its kubelet no longer uses are dropped, all others stay.

#include <gtest/gtest.h>

#include <algorithm>

#include "test/unit/agent/edge/uplink/site.h"

namespace holdfast::agent::uplink {
namespace {

using sync::autonomy::LinkState;

constexpr const char* secrets = "/api/v1/namespaces/a/secrets";
constexpr const char* pods = "/api/v1/pods?fieldSelector=spec.nodeName%3Dedge1";

std::string named(const std::string& collection, const std::string& name) {
  return collection + "?fieldSelector=metadata.name%3D" + name;
}

// The cached scopes without those of the agent's own settings: "secrets metadata.name=x".
std::vector<std::string> scopes_of(Site& site) {
  std::vector<std::string> found;
  for (const auto& [key, scope] : site.edge->scopes().all()) {
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
  Site site({.set = hurry});
  for (const char* name : {"one", "two"}) site.cloud.put(secrets, name);
  site.cloud.put("/api/v1/namespaces/a/pods", "p", pod_with_secret);
  ASSERT_TRUE(site.until(LinkState::connected));
  const auto ask = [&site](const std::string& target) {
    EXPECT_EQ(site.ask(target + "&resourceVersion=0").status, 200) << target;
  };
  ask(pods);
  ask(named(secrets, "one"));
  ask(named(secrets, "two"));
  const Names all{"pods spec.nodeName=edge1", "secrets metadata.name=one",
                  "secrets metadata.name=two"};
  EXPECT_EQ(scopes_of(site), all);
  site.time.run(100s);
  EXPECT_EQ(scopes_of(site), all) << "a recently requested scope has a grace period";
  ask(pods);

  // No pod refers to "two"; but nothing is dropped while the cloud is unreachable.
  site.servers[0]->cut("refuse");
  site.time.run(150s);
  EXPECT_EQ(scopes_of(site), all);
  EXPECT_EQ(site.ask(named(secrets, "one")).status, 200);
  site.servers[0]->cut("pass");
  ASSERT_TRUE(site.until(LinkState::connected));
  site.time.run(70s);
  EXPECT_EQ(scopes_of(site), (Names{all[0], all[1]}));
  const auto dropped = site.metric("holdfast_edge_scopes_dropped_total");
  EXPECT_TRUE(std::count(dropped.begin(), dropped.end(), "{reason=\"orphaned\"} 1"));
  EXPECT_EQ(dropped.size(), 5u) << "one time series for each reason";

  // Its upstream watch has ended, too; the scope returns when it is requested.
  const std::size_t from = site.cloud.asked.size();
  site.time.run(2min);
  EXPECT_EQ(site.cloud.count("GET " + named(secrets, "two"), from), 0);
  ask(named(secrets, "two"));
  EXPECT_EQ(scopes_of(site), all);

  // Once the pod is gone for good, a restart does not find the scope.
  site.cloud.remove("/api/v1/namespaces/a/pods", "p");
  ask(pods);
  site.time.run(4min);
  EXPECT_EQ(scopes_of(site), Names{all[0]});
  site.stop();
  site.start();
  EXPECT_EQ(scopes_of(site), Names{all[0]});
}

TEST(EdgeHousekeeping, WhatIsWatchedOrAskedForStaysAndTheRestGoesAfterItsTime) {
  Site site({.set = hurry});
  site.cloud.put("/api/v1/services", "web");
  site.cloud.put("/api/v1/namespaces/a/configmaps", "one");
  site.cloud.put("/apis/discovery.k8s.io/v1/endpointslices", "web");
  ASSERT_TRUE(site.until(LinkState::connected));
  const auto ask = [&site](const std::string& target) { return site.ask(target).status; };
  EXPECT_EQ(ask("/api/v1/services?resourceVersion=0"), 200);
  EXPECT_EQ(ask("/api/v1/namespaces/a/configmaps?resourceVersion=0"), 200);
  EXPECT_EQ(ask("/apis/discovery.k8s.io/v1/endpointslices?resourceVersion=0"), 200);
  http::Response open =
      site.ask("/api/v1/services?watch=true&resourceVersion=0&timeoutSeconds=36000");
  ASSERT_TRUE(open.stream);
  for (int i = 0; i < 8; ++i) {
    site.time.run(2min);
    EXPECT_EQ(ask("/api/v1/namespaces/a/configmaps?resourceVersion=0"), 200);
  }
  EXPECT_EQ(scopes_of(site), (Names{"configmaps", "services"}));
  site.time.run(10min);
  open.stream->cancel();
  open.stream.reset();
  site.time.run(4min);
  EXPECT_EQ(scopes_of(site), Names{"services"}) << "the time counts from the end of the watch";
  site.time.run(10min);
  EXPECT_EQ(scopes_of(site), Names{});
}

}  // namespace
}  // namespace holdfast::agent::uplink
