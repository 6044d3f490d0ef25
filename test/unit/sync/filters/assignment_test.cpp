// Which component gets which filters: defaults, the command line, and the ConfigMap.

#include "sync/filters/assignment.h"

#include <gtest/gtest.h>

#include "platform/text.h"

namespace holdfast::sync::filters {
namespace {

std::string chain(const FilterAssignment& assignment, const std::string& who,
                  const std::string& verb, const std::string& resource) {
  const std::string group = resource == "endpointslices" ? "discovery.k8s.io" : "";
  std::vector<std::string> names;
  for (const Filter filter : assignment.chain_for(who, verb, group, resource)) {
    names.emplace_back(to_string(filter));
  }
  return join(names, " ");
}

TEST(FilterAssignment, DefaultsAreOpenYurts) {
  const FilterAssignment defaults(true, {});
  struct Row {
    std::string who, verb, resource, chain;
  };
  const Row rows[] = {
      {"kubelet", "list", "services", "masterservice"},
      {"kubelet", "watch", "services", "masterservice"},
      {"kubelet", "get", "services", ""},
      {"kubelet", "get", "configmaps", "inclusterconfig"},
      {"kubelet", "watch", "configmaps", "inclusterconfig"},
      {"kubelet", "list", "pods", "serviceenvupdater"},
      {"kubelet", "patch", "pods", "serviceenvupdater"},
      {"kubelet", "update", "pods", ""},
      {"kubelet", "list", "endpointslices", ""},
      {"kube-proxy", "list", "services", "discardcloudservice nodeportisolation"},
      {"kube-proxy", "watch", "endpointslices", "servicetopology forwardkubesvctraffic"},
      {"kube-proxy", "list", "endpoints", "servicetopology"},
      {"coredns", "watch", "endpointslices", "servicetopology"},
      {"nginx-ingress-controller", "list", "endpoints", "servicetopology"},
      {"kubectl", "list", "services", ""},
      {"", "list", "services", ""},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(chain(defaults, row.who, row.verb, row.resource), row.chain)
        << row.who << " " << row.verb << " " << row.resource;
  }
  EXPECT_TRUE(defaults.chain_for("kubelet", "list", "metrics.k8s.io", "pods").empty());
  EXPECT_TRUE(defaults.may_concern("watch", "", "pods"));
  EXPECT_FALSE(defaults.may_concern("delete", "", "pods"));
  EXPECT_FALSE(defaults.may_concern("list", "", "nodes"));
  EXPECT_FALSE(defaults.caches("kubelet")) << "the ConfigMap does not name it";
}

TEST(FilterAssignment, SwitchesTakeAway) {
  const FilterAssignment some(true, {Filter::node_port_isolation, Filter::service_topology});
  EXPECT_EQ(chain(some, "kube-proxy", "list", "services"), "discardcloudservice");
  EXPECT_EQ(chain(some, "coredns", "list", "endpointslices"), "");
  EXPECT_TRUE(some.components_of(Filter::service_topology).empty());
  FilterAssignment off(false, {});
  off.configure({.components = {{Filter::master_service, {"x"}}}});
  EXPECT_EQ(chain(off, "kubelet", "list", "services"), "");
  EXPECT_EQ(chain(off, "x", "list", "services"), "");
  EXPECT_FALSE(off.may_concern("watch", "", "pods"));
}

struct ConfigRow {
  std::string name;
  std::string data;
  HubConfig config;
  std::vector<std::string> warnings = {};
};

TEST(HubConfig, IsReadAndWhatIsWrongIsNamed) {
  const std::string long_name(129, 'a');
  const ConfigRow rows[] = {
      {"nothing", "{}", {}},
      {"all",
       R"({"cache_agents":"*, Flanneld ,,my.agent_2","masterservice":"k3s",)"
       R"("serviceenvupdater":"k3s,rke2"})",
       {.cache_agents = {"*", "flanneld", "my.agent_2"},
        .components = {{Filter::master_service, {"k3s"}},
                       {Filter::service_env_updater, {"k3s", "rke2"}}}}},
      {"an empty value",
       R"({"servicetopology":"  "})",
       {.components = {{Filter::service_topology, {}}}}},
      {"an unknown key",
       R"({"masterservices":"a","masterservice":"b"})",
       {.components = {{Filter::master_service, {"b"}}}},
       {R"("masterservices" is neither cache_agents nor a filter's name)"}},
      {"a bad name",
       R"({"servicetopology":"good, bad/1.0 ,fine"})",
       {.components = {{Filter::service_topology, {"good", "fine"}}}},
       {R"(servicetopology: "bad/1.0" is not a component's name)"}},
      {"all of them, of a filter",
       R"({"servicetopology":"*"})",
       {.components = {{Filter::service_topology, {}}}},
       {R"(servicetopology: "*" is not a component's name)"}},
      {"too long a name",
       R"({"cache_agents":")" + long_name + R"(,b"})",
       {.cache_agents = {"b"}},
       {"cache_agents: \"" + long_name.substr(1) + "\" is not a component's name"}},
      {"no text",
       R"({"cache_agents":7,"masterservice":"b"})",
       {.components = {{Filter::master_service, {"b"}}}},
       {"cache_agents: 7 is not a string"}},
  };
  for (const ConfigRow& row : rows) {
    const auto read =
        read_hub_config(R"({"metadata":{"name":"yurt-hub-cfg"},"data":)" + row.data + "}");
    ASSERT_TRUE(read) << row.name << read.error().what;
    EXPECT_EQ(read->config, row.config) << row.name;
    EXPECT_EQ(read->warnings, row.warnings) << row.name;
  }
  EXPECT_FALSE(read_hub_config("[]"));
  EXPECT_FALSE(read_hub_config("{"));
  EXPECT_TRUE(read_hub_config("{}")) << "a ConfigMap without data";
  const auto limited = read_hub_config(R"({"data":{"cache_agents":"a,b,c,a"}})", {.names = 2});
  EXPECT_EQ(limited->config.cache_agents, (std::set<std::string>{"a", "b"}));
  EXPECT_EQ(limited->warnings,
            std::vector<std::string>{"cache_agents: \"c\" exceeds the limit of 2 names"});
}

TEST(HubConfig, AddsToTheDefaultsAndGoesAgain) {
  FilterAssignment assignment(true, {Filter::discard_cloud_service});
  assignment.configure({.cache_agents = {"my-agent"},
                        .components = {{Filter::discard_cloud_service, {"kubelet"}},
                                       {Filter::node_port_isolation, {"kubelet"}}}});
  EXPECT_EQ(chain(assignment, "kubelet", "list", "services"), "masterservice nodeportisolation");
  EXPECT_EQ(chain(assignment, "kube-proxy", "list", "services"), "nodeportisolation");
  EXPECT_TRUE(assignment.caches("my-agent"));
  EXPECT_FALSE(assignment.caches("other"));
  assignment.configure({.cache_agents = {"*"}});
  EXPECT_TRUE(assignment.caches("other"));
  EXPECT_EQ(chain(assignment, "kubelet", "list", "services"), "masterservice");
}

}  // namespace
}  // namespace holdfast::sync::filters
