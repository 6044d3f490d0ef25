// The text of /metrics after whole scenarios, as a scraper receives it.

#include "agent/cloud/cloud_metrics.h"

#include "platform/text.h"
#include "test/unit/agent/cloud/cluster.h"

namespace holdfast::agent {
namespace {

class MetricsText : public testing::Test {
 protected:
  void scrape() {
    const http::Request request{.target = "/metrics"};
    text = (*replica)->endpoints().answer(request).body;
  }
  // All lines of one metric family: its HELP and TYPE lines and its samples.
  [[nodiscard]] std::string family(const std::string& name) const {
    std::string found;
    for (const std::string_view line : split(text, '\n')) {
      const bool comment =
          line.starts_with("# HELP " + name + " ") || line.starts_with("# TYPE " + name + " ");
      const bool sample = line.starts_with(name + "{") || line.starts_with(name + " ");
      if (comment || sample) found += std::string(line) + "\n";
    }
    return found;
  }
  [[nodiscard]] bool has(const std::string& line) const {
    return text.find("\n" + line + "\n") != std::string::npos;
  }

  Cluster cluster;
  std::unique_ptr<Replica> replica;
  std::string text;
};

TEST_F(MetricsText, TellsOfZonesEvictionsAndRequests) {
  for (const char* name : {"a", "b", "c", "d"}) cluster.add_node(name);
  cluster.ask(http::Method::patch, "/api/v1/nodes/d",
              R"({"metadata":{"labels":{"node.kubernetes.io/exclude-disruption":""}}})",
              "application/merge-patch+json");
  cluster.add_pod("p", "a");
  cluster.add_pod("q", "a");
  replica = cluster.replica();
  cluster.time.run(30s);
  cluster.silence("a");
  cluster.time.run(2min);
  // Between two probes of the API server no request uses the rate limiter.
  const auto probes = [this] {
    return Cluster::count(cluster.proxy, "GET /apis/coordination.k8s.io/");
  };
  const std::size_t before = probes();
  ASSERT_TRUE(cluster.time.run_until(1min, [&] { return probes() > before; }));
  cluster.time.run(5s);
  scrape();
  EXPECT_EQ(family("node_collector_zone_size"),
            "# HELP node_collector_zone_size Gauge measuring number of registered Nodes per "
            "zones.\n# TYPE node_collector_zone_size gauge\n"
            "node_collector_zone_size{zone=\"\"} 3\n");
  EXPECT_TRUE(has("node_collector_unhealthy_nodes_in_zone{zone=\"\"} 1")) << text;
  EXPECT_NE(family("node_collector_zone_health").find("{zone=\"\"} 66.6"), std::string::npos);
  EXPECT_EQ(family("node_collector_evictions_total"),
            "# HELP node_collector_evictions_total Number of Node evictions that happened since "
            "current instance of NodeController started.\n"
            "# TYPE node_collector_evictions_total counter\n"
            "node_collector_evictions_total{zone=\"\"} 1\n");
  EXPECT_TRUE(has("# TYPE node_collector_evictions_number counter"));
  EXPECT_TRUE(has("node_collector_evictions_number{zone=\"\"} 1"));
  EXPECT_TRUE(has("# TYPE node_collector_update_node_health_duration_seconds histogram"));
  EXPECT_TRUE(has("node_collector_update_node_health_duration_seconds_count 1"));
  EXPECT_TRUE(has("node_collector_update_node_health_duration_seconds_bucket{le=\"0.001\"} 1"));
  EXPECT_TRUE(has("# TYPE node_collector_update_all_nodes_health_duration_seconds histogram"));
  EXPECT_TRUE(
      text.find("node_collector_update_all_nodes_health_duration_seconds_bucket{le=\"163.84\"}") !=
      std::string::npos);
  EXPECT_EQ(family("taint_eviction_controller_pod_deletions_total"),
            "# HELP taint_eviction_controller_pod_deletions_total Total number of Pods deleted by "
            "TaintEvictionController since its start.\n"
            "# TYPE taint_eviction_controller_pod_deletions_total counter\n"
            "taint_eviction_controller_pod_deletions_total 2\n");
  EXPECT_TRUE(has("# TYPE taint_eviction_controller_pod_deletion_duration_seconds histogram"));
  EXPECT_TRUE(has("taint_eviction_controller_pod_deletion_duration_seconds_count 2"));
  EXPECT_TRUE(has("taint_eviction_controller_pod_deletion_duration_seconds_bucket{le=\"240\"} 2"));
  EXPECT_NE(text.find("rest_client_requests_total{code=\"200\",host=\"127.0.0.1:"),
            std::string::npos);
  EXPECT_NE(text.find("method=\"DELETE\"} 2\n"), std::string::npos);
  EXPECT_TRUE(has("holdfast_build_info{version=\"0.1.0\"} 1"));
  EXPECT_TRUE(has("holdfast_cloud_started 1"));
  EXPECT_TRUE(has("holdfast_cloud_api_server_unreachable 0"));
  EXPECT_TRUE(has("holdfast_cloud_writes_waiting 0"));
  EXPECT_TRUE(has("node_lifecycle_controller_rate_limiter_use 0"));
  EXPECT_EQ(family("leader_election_master_status"), "") << "no election";
}

TEST_F(MetricsText, AZoneThatIsGoneIsEmptyAndHealthy) {
  cluster.add_node("a");
  cluster.add_node("b");
  cluster.ask(http::Method::patch, "/api/v1/nodes/b",
              R"({"metadata":{"labels":{"topology.kubernetes.io/zone":"z"}}})",
              "application/merge-patch+json");
  replica = cluster.replica();
  cluster.time.run(30s);
  scrape();
  const std::string zone("{zone=\":\0:z\"}", 13);
  EXPECT_TRUE(has("node_collector_zone_size" + zone + " 1")) << "with upstream's NUL";
  EXPECT_TRUE(has("node_collector_evictions_total" + zone + " 0"));
  cluster.remove_node("b");
  cluster.time.run(30s);
  scrape();
  EXPECT_TRUE(has("node_collector_zone_size" + zone + " 0"));
  EXPECT_TRUE(has("node_collector_zone_health" + zone + " 100"));
  EXPECT_TRUE(has("node_collector_unhealthy_nodes_in_zone" + zone + " 0"));
}

TEST_F(MetricsText, AnEvictionByTheApiIsADeletion) {
  for (const char* name : {"a", "b", "c"}) cluster.add_node(name);
  cluster.add_pod("p", "a");
  CloudSettings settings = cluster.settings(cluster.proxy);
  settings.eviction_mode = "evict";
  replica = std::make_unique<Replica>(cluster.time, settings);
  cluster.time.run(30s);
  cluster.silence("a");
  ASSERT_TRUE(cluster.time.run_until(3min, [this] { return cluster.is_terminating("p"); }));
  cluster.time.run(1s);
  scrape();
  EXPECT_EQ(Cluster::count(cluster.proxy, "POST /api/v1/namespaces/default/pods/p/eviction"), 1U);
  EXPECT_TRUE(has("taint_eviction_controller_pod_deletions_total 1")) << text;
  EXPECT_TRUE(has("taint_eviction_controller_pod_deletion_duration_seconds_count 1"));
}

TEST_F(MetricsText, TheLeaderSaysSo) {
  CloudSettings settings = cluster.settings(cluster.proxy);
  settings.leader.elect = true;
  settings.leader.resource_name = "mine";
  replica = std::make_unique<Replica>(cluster.time, settings);
  scrape();
  EXPECT_TRUE(has("leader_election_master_status{name=\"mine\"} 0"));
  cluster.time.run(1s);
  scrape();
  EXPECT_TRUE(has("# TYPE leader_election_master_status gauge"));
  EXPECT_TRUE(has("leader_election_master_status{name=\"mine\"} 1"));
}

TEST_F(MetricsText, AZoneThatChangesItsStateIsTold) {
  for (const char* name : {"a", "b"}) cluster.add_node(name);
  replica = cluster.replica();
  const auto in_state = [this](const std::string& state) {
    scrape();
    return has("holdfast_cloud_zone_state{state=\"" + state + "\",zone=\"\"} 1");
  };
  EXPECT_TRUE(cluster.time.run_until(1min, [&] { return in_state("Normal"); })) << text;
  EXPECT_EQ(family("holdfast_cloud_zone_changes_total"), "") << "a new zone is no news";
  EXPECT_TRUE(has("holdfast_cloud_all_zones_disrupted 0"));
  for (const char* name : {"a", "b"}) cluster.silence(name);
  EXPECT_TRUE(cluster.time.run_until(2min, [&] { return in_state("FullDisruption"); })) << text;
  EXPECT_TRUE(has("holdfast_cloud_zone_state{state=\"Normal\",zone=\"\"} 0"));
  EXPECT_TRUE(has("holdfast_cloud_zone_changes_total{state=\"FullDisruption\",zone=\"\"} 1"));
  EXPECT_TRUE(has("holdfast_cloud_all_zones_disrupted 1"));
  cluster.revive("a");
  EXPECT_TRUE(cluster.time.run_until(1min, [&] { return in_state("Normal"); })) << text;
  EXPECT_TRUE(has("holdfast_cloud_zone_changes_total{state=\"Normal\",zone=\"\"} 1"));
  EXPECT_TRUE(has("holdfast_cloud_all_zones_disrupted 0"));
  for (const char* name : {"a", "b"}) cluster.remove_node(name);
  EXPECT_TRUE(cluster.time.run_until(1min, [&] { return !in_state("Normal"); })) << text;
}

TEST(ShownZone, HasNoControlCharacters) {
  const std::pair<sync::StringMap, const char*> rows[] = {
      {{}, "-"},
      {{{"topology.kubernetes.io/region", "r"}, {"topology.kubernetes.io/zone", "z"}}, "r/z"},
      {{{"topology.kubernetes.io/zone", "z"}}, "/z"}};
  for (const auto& [labels, shown] : rows) {
    EXPECT_EQ(shown_zone(sync::lifecycle::zone_key(labels)), shown);
  }
}

}  // namespace
}  // namespace holdfast::agent
