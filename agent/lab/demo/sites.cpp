#include "agent/lab/demo/sites.h"

#include "agent/lab/demo/watchers.h"
#include "agent/lab/hollow/hollow_objects.h"
#include "platform/loop/timer.h"

namespace holdfast::agent::demo {
namespace {

using agent::ApiRequest;
using agent::Fault;

constexpr Duration pod_write_limit = std::chrono::seconds(5);

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
  agent::HollowPlan plan;
  plan.zone = zone;
  plan.nodes = setup.nodes_of(zone);
  Site site;
  const net::HostPort any{"127.0.0.1", 0};
  const net::HostPort server{"127.0.0.1", cluster.port};
  CO_TRY(site.link, agent::FaultProxy::open(executor_, any, server));
  CO_TRY(site.client,
         local_client(site.link->port(), clock_, "holdfast-hollow", cluster.admin_token));
  site.nodes = std::make_unique<agent::HollowSite>(plan, *site.client, clock_);
  Status done = co_await site.nodes->join();
  if (!done) co_return done;
  for (const std::string& node : plan.nodes) {
    ApiRequest pod{.method = http::Method::post, .target = "/api/v1/namespaces/default/pods"};
    pod.body = agent::hollow_pod("app-" + node, node, zone, seconds);
    const auto made = co_await site.client->call(std::move(pod), clock_.mono() + pod_write_limit);
    if (!made) co_return fail("pod of " + node, made.error());
  }
  tasks_.spawn("site " + zone, site.nodes->run());
  sites_[zone] = std::move(site);
  co_return done;
}

void Sites::cut(const std::string& site) {
  const Fault fault{.kind = Fault::Kind::black_hole};
  sites_.at(site).link->set(fault);
}

void Sites::restore(const std::string& site) { sites_.at(site).link->set(Fault{}); }

asio::awaitable<void> Sites::close() {
  tasks_.cancel();
  co_await tasks_.join();
  for (auto& [zone, site] : sites_) co_await site.link->stop();
}

}  // namespace holdfast::agent::demo
