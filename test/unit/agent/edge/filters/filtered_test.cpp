// What OpenYurt's components read through the agent, online and offline, while the objects that the
// filters need appear, change or are missing.

#include <gtest/gtest.h>

#include "sync/filters/answers.h"
#include "sync/wire/read.h"
#include "test/unit/agent/edge/filters/filtered_objects.h"

namespace holdfast::agent::filtered {
namespace {

std::string topology(const std::string& keys) {
  return R"("openyurt.io/topologyKeys":")" + keys + R"(")";
}

std::string slice(const std::string& name, const std::string& of) {
  std::string endpoints;
  for (const char* node : {"edge-a", "edge-b", "cloud"}) {
    endpoints += endpoints.empty() ? "" : ",";
    endpoints += R"({"addresses":["10.0.0.1"],"conditions":{"ready":true},"nodeName":")" +
                 std::string(node) + R"("})";
  }
  return R"({"metadata":{"name":")" + name + R"(","labels":{"kubernetes.io/service-name":")" + of +
         R"("}},"addressType":"IPv4","endpoints":[)" + endpoints +
         R"(],"ports":[{"name":"","port":80}]})";
}

const std::string ns_slices = "/apis/discovery.k8s.io/v1/namespaces/ns/endpointslices";

std::string nodes_in(const json::value& slice_json) {
  std::string nodes;
  for (const json::value& endpoint : sync::wire::dig_list(slice_json.as_object(), {"endpoints"})) {
    nodes += (nodes.empty() ? "" : " ");
    nodes += sync::wire::dig_text(sync::wire::as_object(endpoint), {"nodeName"});
  }
  return nodes;
}

// The nodes of the endpoints in the only EndpointSlice of an answer.
std::string nodes_of(FilterFixture& fixture, const Client& client, const std::string& target) {
  const json::value items = fixture.get(client, target);
  return items.is_array() && items.get_array().size() == 1 ? nodes_in(items.get_array()[0]) : "?";
}

TEST(Filtered, ListsAndGetsLookTheSameOnlineFromTheCacheAndOffline) {
  FilterFixture fixture(with_door());
  fixture.on_server("POST", ns + "/services", service("here", listens("hangzhou")));
  fixture.on_server("POST", ns + "/services", service("elsewhere", listens("beijing")));
  fixture.on_server("POST", ns + "/services",
                    service("cloud", R"("svc.openyurt.io/discard":"true")", "LoadBalancer"));
  fixture.on_server("POST", "/api/v1/namespaces/default/services",
                    service("kubernetes", "", "ClusterIP"));
  const auto check = [&fixture](const std::string& when) {
    for (const std::string& target : {services, services + cached}) {
      for (const Client& client : {proxy, proxy_protobuf}) {
        EXPECT_EQ(fixture.names(client, target), "kubernetes here") << when << target;
      }
      for (const Client& client : {kubelet, kubelet_protobuf}) {
        EXPECT_EQ(fixture.names(client, target), "kubernetes cloud elsewhere here") << when;
        const json::value master = fixture.get(client, target).as_array().at(0);
        EXPECT_EQ(sync::wire::dig_text(master.as_object(), {"spec", "clusterIP"}), "169.254.2.1")
            << when;
      }
    }
  };
  check("online");
  const json::value as_is = fixture.get(kubectl, services).as_array().at(0);
  EXPECT_NE(sync::wire::dig_text(as_is.as_object(), {"spec", "clusterIP"}), "169.254.2.1");
  fixture.time.run(5s);
  fixture.cut();
  check("offline");
  EXPECT_EQ(fixture.names(proxy, ns + "/services?resourceVersion=0"), "here")
      << "answered from a list over all namespaces";
  fixture.restart_agent();
  check("after a restart");
  fixture.restore();
  check("again");
  EXPECT_EQ(fixture.ask({"coredns"}, services).status, 200) << "no filter applies to coredns";
}

TEST(Filtered, AWatchTellsOnlyWhatItsClientMaySeeOnlineAndFromTheCloudItself) {
  FilterFixture fixture;
  fixture.on_server("POST", ns + "/services", service("hidden", listens("beijing")));
  fixture.on_server("POST", ns + "/services", service("web", ""));
  const auto list = fixture.ask(proxy, services + cached);
  const std::string version(
      sync::wire::version_of(sync::wire::parse_json(list.body).value().as_object()));
  const auto from_list = fixture.watch(proxy, services + "?watch=true&resourceVersion=" + version);
  const auto initial = fixture.watch(
      proxy_protobuf, services + "?watch=true&sendInitialEvents=true&allowWatchBookmarks=true" +
                          "&resourceVersionMatch=NotOlderThan");
  // The agent caches nothing for this client: its watch goes to the cloud.
  const Client ingress{"nginx-ingress-controller"};
  const auto passed = fixture.watch(ingress, slices + "?watch=true");
  EXPECT_EQ(fixture.news(from_list), "");
  EXPECT_EQ(fixture.news(initial), "ADDED web");

  const auto set = [&fixture](const std::string& name, const std::string& annotation) {
    fixture.on_server("PATCH", ns + "/services/" + name,
                      R"({"metadata":{"annotations":{)" + annotation + "}}}");
  };
  set("hidden", listens("shanghai"));
  EXPECT_EQ(fixture.news(from_list), "");
  EXPECT_EQ(fixture.news(initial), "");
  set("hidden", listens("*"));
  set("web", listens("beijing"));
  EXPECT_EQ(fixture.news(from_list), "ADDED hidden, DELETED web");
  EXPECT_EQ(fixture.news(initial), "ADDED hidden, DELETED web");
  set("web", R"("a":"b")");
  fixture.on_server("DELETE", ns + "/services/web");
  fixture.on_server("DELETE", ns + "/services/hidden");
  EXPECT_EQ(fixture.news(from_list), "DELETED hidden");

  fixture.on_server("POST", ns + "/services", service("local", topology("kubernetes.io/hostname")));
  fixture.on_server("POST", ns_slices, slice("s", "local"));
  EXPECT_EQ(fixture.news(passed), "ADDED s");
  EXPECT_EQ(nodes_in(sync::wire::parse_json(passed->objects.at(0)).value()), "edge-a");
}

TEST(Filtered, WhatTheFiltersKnowFollowsTheCluster) {
  FilterFixture fixture;
  fixture.on_server("POST", ns + "/services", service("web", topology("openyurt.io/nodepool")));
  fixture.on_server("POST", ns_slices, slice("s", "web"));
  for (const Client& client : {proxy, proxy_protobuf, Client{"coredns"}}) {
    EXPECT_EQ(nodes_of(fixture, client, slices), "edge-a edge-b") << client.component;
    EXPECT_EQ(nodes_of(fixture, client, slices + cached), "edge-a edge-b") << client.component;
  }
  EXPECT_EQ(nodes_of(fixture, kubectl, slices), "edge-a edge-b cloud");
  const auto watch = fixture.watch(proxy, slices + "?watch=true&resourceVersion=0");
  EXPECT_EQ(fixture.news(watch), "ADDED s");

  // The Service changes, the EndpointSlice does not.
  fixture.on_server("PATCH", ns + "/services/web",
                    R"({"metadata":{"annotations":{)" + topology("kubernetes.io/hostname") + "}}}");
  EXPECT_EQ(fixture.news(watch), "DELETED s, ADDED s");
  EXPECT_EQ(nodes_in(sync::wire::parse_json(watch->objects.back()).value()), "edge-a");
  fixture.on_server("PATCH", ns + "/services/web", R"({"metadata":{"annotations":null}})");
  EXPECT_EQ(fixture.news(watch), "DELETED s, ADDED s");
  EXPECT_EQ(nodes_in(sync::wire::parse_json(watch->objects.back()).value()), "edge-a edge-b cloud");

  // An EndpointSlice is created before its Service.
  fixture.on_server("POST", ns_slices, slice("t", "later"));
  EXPECT_EQ(fixture.news(watch), "ADDED t");
  fixture.on_server("POST", ns + "/services", service("later", topology("kubernetes.io/hostname")));
  EXPECT_EQ(fixture.news(watch), "DELETED t, ADDED t");
  EXPECT_EQ(nodes_in(sync::wire::parse_json(watch->objects.back()).value()), "edge-a");
  fixture.on_server("POST", ns + "/services", service("other", ""));
  EXPECT_EQ(fixture.news(watch), "") << "no slice belongs to this Service";
}

TEST(Filtered, WhatIsNotKnownIsNotShown) {
  FilterFixture fixture;
  fixture.on_server("POST", ns + "/services", service("web", topology("openyurt.io/nodepool")));
  fixture.on_server("POST", ns_slices, slice("s", "web"));
  const std::string pools = "/apis/apps.openyurt.io/v1beta2/nodepools";
  fixture.refused = {services, pools};
  for (const std::string& target : {slices, slices + cached, slices + "?watch=true",
                                    slices + "?watch=true&resourceVersion=0"}) {
    const http::Response answer = fixture.ask(proxy, target);
    EXPECT_EQ(answer.status, 503) << target;
    EXPECT_NE(answer.headers.get("retry-after"), "") << target;
    EXPECT_NE(answer.body.find("before services are known"), std::string::npos) << answer.body;
  }
  EXPECT_EQ(nodes_of(fixture, kubectl, slices), "edge-a edge-b cloud");
  fixture.refused = {pools};
  fixture.time.run(1min);
  EXPECT_NE(fixture.ask(proxy, slices).body.find("the nodes of this node's pool"),
            std::string::npos);
  fixture.refused = {};
  fixture.time.run(1min);
  EXPECT_EQ(nodes_of(fixture, proxy, slices + cached), "edge-a edge-b");
  fixture.time.run(5s);
  fixture.cut();
  fixture.restart_agent();
  EXPECT_EQ(nodes_of(fixture, proxy, slices + cached), "edge-a edge-b") << "read from the disk";
}

TEST(Filtered, AClusterWithoutNodePoolsHasThisNodeAlone) {
  const std::string pools = "/apis/apps.openyurt.io/v1beta2/nodepools";
  const struct {
    const char* what;
    std::set<std::string> absent;
    std::set<std::string> forbidden;
    bool has_pool;
  } rows[] = {{"no such resource", {pools}, {}, true},
              {"no pool of that name", {}, {}, false},
              {"not readable", {}, {pools, pools + "/hangzhou"}, true},
              {"not listable, and absent", {pools + "/hangzhou"}, {pools}, true}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    FilterFixture fixture;
    fixture.absent = row.absent;
    fixture.forbidden = row.forbidden;
    fixture.has_pool = row.has_pool;
    fixture.on_server("POST", ns + "/services", service("web", topology("openyurt.io/nodepool")));
    fixture.on_server("POST", ns_slices, slice("s", "web"));
    EXPECT_EQ(nodes_of(fixture, proxy, slices), "edge-a");
  }
}

TEST(Filtered, TheNodesOfThePoolAreReadFromNodeBucketsIfAskedFor) {
  EdgeOptions options;
  options.filters.pool_service_topology = true;
  options.filters.nodepool_name = "hangzhou";
  FilterFixture fixture(options);
  fixture.has_pool = false;
  fixture.on_server("POST", ns + "/services", service("web", topology("openyurt.io/nodepool")));
  fixture.on_server("POST", ns_slices, slice("s", "web"));
  EXPECT_EQ(nodes_of(fixture, proxy, slices), "edge-a edge-b");
}

TEST(Filtered, AWatchHoldsBackWhatCannotBeFilteredAndItsBookmarks) {
  FilterFixture fixture;
  fixture.refused = {"/apis/apps.openyurt.io/v1beta2/nodepools"};
  fixture.on_server("POST", ns + "/services", service("plain", ""));
  fixture.on_server("POST", ns_slices, slice("s", "plain"));
  const auto watch = fixture.watch(proxy, slices + "?watch=true&resourceVersion=0" +
                                              "&allowWatchBookmarks=true&timeoutSeconds=3600");
  EXPECT_EQ(fixture.news(watch), "ADDED s");
  fixture.time.run(3min);
  EXPECT_GT(watch->bookmarks, 0);
  fixture.on_server("POST", ns + "/services", service("web", topology("openyurt.io/nodepool")));
  fixture.on_server("POST", ns_slices, slice("t", "web"));
  fixture.on_server("POST", ns_slices, slice("u", "plain"));
  fixture.time.run(1s);
  const int bookmarks = watch->bookmarks;
  fixture.time.run(3min);
  EXPECT_EQ(fixture.news(watch), "");
  EXPECT_EQ(watch->bookmarks, bookmarks) << "they would be ahead of the events";
  fixture.refused = {};
  fixture.time.run(6min);
  EXPECT_EQ(fixture.news(watch), "ADDED t, ADDED u");
  EXPECT_EQ(nodes_in(sync::wire::parse_json(watch->objects.at(1)).value()), "edge-a edge-b");
  EXPECT_GT(watch->bookmarks, bookmarks);
}

TEST(Filtered, AWatchFromTheCloudEndsWhenWhatItHasToldIsOutdated) {
  FilterFixture fixture;
  fixture.on_server("POST", ns + "/services", service("web", topology("openyurt.io/nodepool")));
  fixture.on_server("POST", ns_slices, slice("s", "web"));
  const auto watch = fixture.watch({"nginx-ingress-controller"}, slices + "?watch=true");
  EXPECT_EQ(fixture.news(watch), "ADDED s");
  fixture.on_server("PATCH", ns + "/services/web",
                    R"({"metadata":{"annotations":{)" + topology("kubernetes.io/hostname") + "}}}");
  EXPECT_EQ(fixture.news(watch), "") << "until its next event";
  fixture.on_server("POST", ns_slices, slice("t", "web"));
  EXPECT_EQ(fixture.news(watch), "ERROR");
  EXPECT_NE(watch->objects.back().find("\"code\":410"), std::string::npos);
  EXPECT_TRUE(watch->ended);
}

TEST(Filtered, AListOfMoreObjectsThanTheLimitIsAnError) {
  const std::string item = R"({"metadata":{"name":"a","namespace":"ns"}})";
  std::string list = R"({"kind":"ServiceList","apiVersion":"v1","metadata":{},"items":[)" + item;
  for (int i = 1; i < 100'000; ++i) list += "," + item;
  const sync::filters::FilterChain chain{sync::filters::Filter::discard_cloud_service};
  const sync::filters::FilterKnowledge knowledge{.node_name = "edge-a"};
  const auto passed = sync::filters::filter_body(chain, knowledge, list + "]}");
  ASSERT_TRUE(passed) << passed.error().what;
  EXPECT_EQ(passed->effect, sync::filters::Effect::none);
  const auto refused = sync::filters::filter_body(chain, knowledge, list + "," + item + "]}");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::exhausted);
  EXPECT_EQ(refused.error().what, "list: more than 100000 items");
}

TEST(Filtered, WithoutPoolsAPoolIsNoTopology) {
  EdgeOptions options;
  options.filters.node_pool = false;
  FilterFixture fixture(options);
  fixture.on_server("POST", ns + "/services", service("web", topology("openyurt.io/nodepool")));
  fixture.on_server("POST", ns_slices, slice("s", "web"));
  EXPECT_EQ(nodes_of(fixture, proxy, slices), "edge-a edge-b cloud");
}

TEST(Filtered, NothingIsAskedForThatNobodyNeeds) {
  FilterFixture fixture;
  fixture.on_server("POST", ns + "/services", service("web", ""));
  EXPECT_EQ(fixture.names(kubelet_protobuf, "/api/v1/pods"), "");
  EXPECT_EQ(fixture.names(proxy, services), "web");
  fixture.asked.clear();
  fixture.time.run(30s);
  for (const std::string& path : fixture.asked) {
    EXPECT_TRUE(path.find("nodepools") == std::string::npos && path != "/api/v1/nodes") << path;
  }
}

TEST(Filtered, WithoutAnAddressThatPodsReachTheyKeepTheApiServersAddress) {
  FilterFixture fixture;
  const json::object made = fixture.on_server("POST", "/api/v1/namespaces/default/services",
                                              service("kubernetes", "", "ClusterIP"));
  const std::string_view address = sync::wire::dig_text(made, {"spec", "clusterIP"});
  EXPECT_NE(address, "");
  for (const std::string& target : {services, services + cached}) {
    const json::value master = fixture.get(kubelet, target).as_array().at(0);
    EXPECT_EQ(sync::wire::dig_text(master.as_object(), {"spec", "clusterIP"}), address) << target;
  }
}

TEST(Filtered, APatchedPodLooksAsItDoesInLists) {
  FilterFixture fixture(with_door());
  fixture.on_server(
      "POST", ns + "/pods",
      R"({"metadata":{"name":"p"},"spec":{"nodeName":"edge-a","containers":[{"name":"c",)"
      R"("image":"i","env":[{"name":"KUBERNETES_SERVICE_HOST","value":"10.96.0.1"}]}]}})");
  const auto host = [](const json::value& pod) {
    const json::array& containers = sync::wire::dig_list(pod.as_object(), {"spec", "containers"});
    if (containers.empty()) return std::string("none");
    const json::array& env = sync::wire::dig_list(containers[0].as_object(), {"env"});
    return env.empty() ? "none" : std::string(sync::wire::dig_text(env[0].as_object(), {"value"}));
  };
  const auto check = [&fixture, &host] {
    for (const Client& client : {kubelet, kubelet_protobuf}) {
      const std::string mine = "/api/v1/pods?fieldSelector=spec.nodeName%3Dedge-a";
      EXPECT_EQ(host(fixture.get(client, mine + "&resourceVersion=0").as_array().at(0)),
                "169.254.2.1");
      const http::Response patched =
          fixture.ask(client, ns + "/pods/p/status", "PATCH", R"({"status":{"phase":"Running"}})");
      EXPECT_EQ(patched.status, 200) << patched.body;
      EXPECT_NE(patched.body.find("169.254.2.1"), std::string::npos) << patched.body;
      EXPECT_EQ(host(fixture.get(client, ns + "/pods/p")), "169.254.2.1");
    }
  };
  check();
  fixture.time.run(5s);
  fixture.cut();
  check();
  EXPECT_EQ(host(json::value(fixture.on_server("GET", ns + "/pods/p"))), "10.96.0.1");
}

}  // namespace
}  // namespace holdfast::agent::filtered
