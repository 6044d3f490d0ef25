// Open watches while this node's pool changes: the pool gets other nodes, or the node another pool.

#include <gtest/gtest.h>

#include "sync/wire/read.h"
#include "test/unit/agent/edge/filters/filter_fixture.h"

namespace holdfast::agent::filtered {
namespace {

using namespace std::chrono_literals;

const std::string slices_path = "/apis/discovery.k8s.io/v1/endpointslices";

// The nodes of the endpoints in the latest object of a watch.
std::string nodes_in_latest(const OpenWatch& watch) {
  std::string nodes;
  const json::value slice = sync::wire::parse_json(watch.objects.back()).value();
  for (const json::value& endpoint : sync::wire::dig_list(slice.as_object(), {"endpoints"})) {
    nodes += nodes.empty() ? "" : " ";
    nodes += sync::wire::dig_text(sync::wire::as_object(endpoint), {"nodeName"});
  }
  return nodes;
}

// A Service whose topology is the pool, and its EndpointSlice with three nodes.
void make_pooled_service(FilterFixture& fixture) {
  fixture.on_server("POST", "/api/v1/namespaces/ns/services",
                    R"({"metadata":{"name":"web","annotations":{"openyurt.io/topologyKeys":)"
                    R"("openyurt.io/nodepool"}},"spec":{"ports":[{"port":80}]}})");
  std::string endpoints;
  for (const std::string node : {"edge-a", "edge-b", "cloud"}) {
    endpoints +=
        (endpoints.empty() ? "" : ",") +
        (R"({"addresses":["10.0.0.1"],"conditions":{"ready":true},"nodeName":")" + node + R"("})");
  }
  fixture.on_server("POST", "/apis/discovery.k8s.io/v1/namespaces/ns/endpointslices",
                    R"({"metadata":{"name":"s","labels":{"kubernetes.io/service-name":"web"}},)"
                    R"("addressType":"IPv4","endpoints":[)" +
                        endpoints + R"(],"ports":[{"name":"","port":80}]})");
}

TEST(ChangedPool, OpenWatchesGetTheNewState) {
  FilterFixture fixture;
  make_pooled_service(fixture);
  const Client kube_proxy{"kube-proxy"};
  const auto watch =
      fixture.watch(kube_proxy, slices_path + "?watch=true&resourceVersion=0&timeoutSeconds=3600");
  EXPECT_EQ(fixture.news(watch), "ADDED s");
  EXPECT_EQ(nodes_in_latest(*watch), "edge-a edge-b");

  // Another node joins the pool. The server refuses watches of NodePools: they are listed again.
  fixture.pool_nodes = {"edge-a", "edge-b", "cloud"};
  fixture.time.run(6min);
  EXPECT_EQ(fixture.news(watch), "DELETED s, ADDED s");
  EXPECT_EQ(nodes_in_latest(*watch), "edge-a edge-b cloud");
  fixture.pool_nodes = {"edge-a"};
  fixture.time.run(6min);
  EXPECT_EQ(fixture.news(watch), "DELETED s, ADDED s");
  EXPECT_EQ(nodes_in_latest(*watch), "edge-a");
  fixture.pool_nodes = {"edge-a", "edge-b"};
  fixture.time.run(6min);
  EXPECT_EQ(fixture.news(watch), "DELETED s, ADDED s");

  // This node joins a pool without other nodes.
  fixture.on_server("PATCH", "/api/v1/nodes/edge-a",
                    R"({"metadata":{"labels":{"apps.openyurt.io/nodepool":"beijing"}}})");
  fixture.time.run(6min);
  EXPECT_EQ(fixture.news(watch), "DELETED s, ADDED s");
  EXPECT_EQ(nodes_in_latest(*watch), "edge-a");
  EXPECT_FALSE(watch->ended);
}

}  // namespace
}  // namespace holdfast::agent::filtered
