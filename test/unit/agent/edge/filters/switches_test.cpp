// The settings that choose which filters apply to whom: flags and the ConfigMap.

#include <gtest/gtest.h>

#include "test/unit/agent/edge/filters/filtered_objects.h"

namespace holdfast::agent::filtered {
namespace {

const std::string configmaps = "/api/v1/namespaces/kube-system/configmaps";

TEST(Filtered, TheConfigMapAddsComponentsAndGoesAgain) {
  FilterFixture fixture;
  const Client mine{"my-proxy"};
  fixture.on_server("POST", ns + "/services",
                    service("cloud", R"("svc.openyurt.io/discard":"true")", "LoadBalancer"));
  fixture.on_server("POST", ns + "/services", service("web", ""));
  EXPECT_EQ(fixture.names(mine, services), "cloud web");
  fixture.on_server("POST", configmaps,
                    R"({"metadata":{"name":"yurt-hub-cfg"},"data":{"cache_agents":"my-proxy",)"
                    R"("discardcloudservice":"my-proxy,bad/name","nonsense":"x"}})");
  fixture.time.run(1s);
  EXPECT_EQ(fixture.names(mine, services), "web");
  EXPECT_EQ(fixture.names(mine, services + cached), "web");
  EXPECT_EQ(fixture.names(kubectl, services), "cloud web");
  const auto watch = fixture.watch(mine, services + "?watch=true&resourceVersion=0");
  EXPECT_EQ(fixture.news(watch), "ADDED web");
  fixture.time.run(5s);
  fixture.cut();
  fixture.restart_agent();
  EXPECT_EQ(fixture.names(mine, services + cached), "web") << "the settings are cached, too";
  fixture.restore();

  const auto other = fixture.watch(mine, services + "?watch=true&resourceVersion=0");
  EXPECT_EQ(fixture.news(other), "ADDED web");
  fixture.on_server("DELETE", configmaps + "/yurt-hub-cfg");
  EXPECT_EQ(fixture.news(other), "ERROR") << "the client must list again";
  EXPECT_NE(other->objects.back().find("\"code\":410"), std::string::npos);
  EXPECT_EQ(fixture.names(mine, services), "cloud web");
}

TEST(Filtered, AnotherConfigMapMayHaveTheSettings) {
  EdgeOptions options;
  options.filters.hub_config = "edge/settings";
  FilterFixture fixture(options);
  const auto configure = [&fixture](const std::string& path, const std::string& name) {
    fixture.on_server("POST", path,
                      R"({"metadata":{"name":")" + name +
                          R"("},"data":{"discardcloudservice":"of-)" + name + "\"}}");
  };
  configure(configmaps, "yurt-hub-cfg");
  fixture.on_server("POST", "/api/v1/namespaces", R"({"metadata":{"name":"edge"}})");
  configure("/api/v1/namespaces/edge/configmaps", "settings");
  fixture.on_server("POST", ns + "/services",
                    service("cloud", R"("svc.openyurt.io/discard":"true")", "LoadBalancer"));
  fixture.time.run(1min);
  EXPECT_EQ(fixture.names({"of-settings"}, services), "");
  EXPECT_EQ(fixture.names({"of-yurt-hub-cfg"}, services), "cloud");
}

TEST(Filtered, WithoutTheRightToReadTheConfigMapTheDefaultsApply) {
  FilterFixture fixture;
  fixture.forbidden = {configmaps, configmaps + "/yurt-hub-cfg"};
  fixture.restart_agent();
  fixture.on_server("POST", ns + "/services",
                    service("cloud", R"("svc.openyurt.io/discard":"true")", "LoadBalancer"));
  fixture.on_server("POST", ns + "/services", service("web", ""));
  fixture.on_server("POST", configmaps,
                    R"({"metadata":{"name":"yurt-hub-cfg"},"data":{)"
                    R"("discardcloudservice":"my-proxy"}})");
  fixture.time.run(1min);
  EXPECT_EQ(fixture.names(proxy, services), "web");
  EXPECT_EQ(fixture.names({"my-proxy"}, services), "cloud web");
}

TEST(Filtered, SwitchedOffNobodyIsFilteredAndNothingIsAskedFor) {
  EdgeOptions options;
  options.filters.enabled = false;
  options.filters.hub_config = "";
  FilterFixture fixture(options);
  fixture.on_server("POST", ns + "/services", service("hidden", listens("beijing")));
  EXPECT_EQ(fixture.names(proxy, services), "hidden");
  for (const std::string& path : fixture.asked) EXPECT_NE(path, configmaps);
}

TEST(Filtered, OneFilterIsSwitchedOffAndTablesAreNotGiven) {
  EdgeOptions options;
  options.filters.disabled = {"nodeportisolation"};
  options.filters.nodepool_name = "hangzhou";
  FilterFixture fixture(options);
  fixture.on_server("POST", ns + "/services", service("hidden", listens("beijing")));
  EXPECT_EQ(fixture.names(proxy, services), "hidden");
  const std::string table = "application/json;as=Table;v=v1;g=meta.k8s.io";
  EXPECT_EQ(fixture.ask({"kube-proxy", false, table}, services).status, 406);
  const http::Response whole =
      fixture.ask({"kube-proxy", false, table + ",application/json"}, services);
  EXPECT_NE(whole.body.find("\"kind\":\"ServiceList\""), std::string::npos) << whole.body;
  const http::Response as_is = fixture.ask({"kubectl", false, table}, services);
  EXPECT_NE(as_is.body.find("\"kind\":\"Table\""), std::string::npos) << as_is.body;
}

}  // namespace
}  // namespace holdfast::agent::filtered
