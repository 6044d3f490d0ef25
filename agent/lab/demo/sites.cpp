#include "agent/lab/demo/sites.h"

#include "agent/lab/demo/watchers.h"
#include "agent/lab/hollow/hollow_objects.h"
#include "platform/loop/timer.h"

namespace holdfast::demo {
namespace {

using agent::ApiRequest;
using agent::Fault;

constexpr Duration request_limit = std::chrono::seconds(5);

}  // namespace

asio::awaitable<Status> Sites::open(std::uint16_t server_port, Cast cast) {
  const auto patience = std::chrono::duration_cast<std::chrono::seconds>(cast.site_patience);
  for (const std::string& zone : {cast.first_site, cast.other_site}) {
    agent::HollowPlan plan{.zone = zone, .nodes = cast.nodes_of(zone)};
    Status done =
        co_await open_site(server_port, std::move(plan), static_cast<int>(patience.count()));
    if (!done) co_return fail("site " + zone, done.error());
  }
  Status done;
  co_return done;
}

asio::awaitable<Status> Sites::open_site(std::uint16_t server_port, agent::HollowPlan plan,
                                         int patience_seconds) {
  Site site;
  const net::HostPort any{"127.0.0.1", 0};
  const net::HostPort server{"127.0.0.1", server_port};
  CO_TRY(site.link, agent::FaultProxy::open(executor_, any, server));
  CO_TRY(site.client, local_client(site.link->port(), clock_, "holdfast-hollow"));
  site.nodes = std::make_unique<agent::HollowSite>(plan, *site.client, clock_);
  Status done = co_await site.nodes->join();
  if (!done) co_return done;
  for (const std::string& node : plan.nodes) {
    ApiRequest pod{.method = http::Method::post, .target = "/api/v1/namespaces/default/pods"};
    pod.body = agent::hollow_pod("app-" + node, node, plan.zone, patience_seconds);
    const auto made = co_await site.client->call(std::move(pod), clock_.mono() + request_limit);
    if (!made) co_return fail("pod of " + node, made.error());
  }
  tasks_.spawn("site " + plan.zone, site.nodes->run());
  sites_[plan.zone] = std::move(site);
  co_return done;
}

void Sites::cut(const std::string& site) {
  const Fault fault{.way = Fault::Way::black_hole};
  sites_.at(site).link->set(fault);
}

void Sites::restore(const std::string& site) { sites_.at(site).link->set(Fault{}); }

asio::awaitable<void> Sites::close() {
  tasks_.cancel();
  co_await tasks_.join();
  for (auto& [zone, site] : sites_) co_await site.link->stop();
}

}  // namespace holdfast::demo
