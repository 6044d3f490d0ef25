#include "agent/lab/demo/sites.h"

#include "agent/lab/demo/watchers.h"
#include "agent/lab/hollow/objects.h"
#include "platform/check.h"
#include "platform/loop/timer.h"

namespace holdfast::agent::demo {
namespace {

using agent::ApiRequest;

constexpr Duration pod_write_limit = std::chrono::seconds(5);
constexpr Duration join_limit = std::chrono::seconds(10);
constexpr double site_qps = 500;

// All nodes of a site fall silent together when its link is cut.
agent::hollow::Plan plan_of(const std::string& zone, const DemoSetup& setup) {
  agent::hollow::Plan plan;
  plan.nodes = setup.nodes_of(zone);
  plan.zones = {zone};
  plan.pod_selector = "zone=" + zone;
  plan.lease_interval = plan.status_interval = std::chrono::seconds(1);
  plan.lease_seconds = 6;
  plan.spread = false;
  plan.pods_start = plan.pods_stop = Duration::zero();
  plan.request_limit = std::chrono::seconds(2);
  return plan;
}

}  // namespace

asio::awaitable<Status> Sites::open(Cluster cluster, DemoSetup setup) {
  for (const std::string& zone : setup.sites()) {
    Status opened = co_await open_site(cluster, zone, setup);
    if (!opened) co_return fail("site " + zone, opened.error());
  }
  Status done;
  co_return done;
}

asio::awaitable<Status> Sites::open_site(Cluster cluster, std::string zone, DemoSetup setup) {
  const auto patience = std::chrono::duration_cast<std::chrono::seconds>(setup.site_patience);
  const auto seconds = static_cast<int>(patience.count());
  agent::hollow::Plan plan = plan_of(zone, setup);
  Site site;
  const net::HostPort any{"127.0.0.1", 0};
  const net::HostPort server{"127.0.0.1", cluster.port};
  CO_TRY(site.link, agent::faults::FaultProxy::open(executor_, any, server));
  CO_TRY(site.client,
         local_client(site.link->port(), clock_, "holdfast-hollow", cluster.admin_token));
  site.nodes =
      std::make_unique<agent::hollow::HollowNodes>(executor_, plan, *site.client, site_qps, clock_);
  site.nodes->start();
  sites_[zone] = std::move(site);
  const Site& opened = sites_[zone];
  Status done = co_await opened.nodes->joined(clock_.mono() + join_limit);
  if (!done) co_return done;
  for (const std::string& node : plan.nodes) {
    ApiRequest pod{.method = http::Method::post, .target = "/api/v1/namespaces/default/pods"};
    pod.body = agent::hollow::bound_pod({"app-" + node, node, zone, seconds});
    const auto made = co_await opened.client->call(std::move(pod), clock_.mono() + pod_write_limit);
    if (!made) co_return fail("pod of " + node, made.error());
  }
  co_return done;
}

void Sites::cut(const std::string& site) {
  CHECK(sites_.at(site).link->set({agent::faults::cut_cable()}));
}

void Sites::restore(const std::string& site) { CHECK(sites_.at(site).link->set({})); }

asio::awaitable<void> Sites::close() {
  for (auto& [zone, site] : sites_) site.nodes->cancel();
  for (auto& [zone, site] : sites_) {
    co_await site.nodes->join();
    co_await site.link->stop();
  }
}

}  // namespace holdfast::agent::demo
