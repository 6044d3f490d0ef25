#include "agent/lab/hollow/command.h"

#include <boost/asio/this_coro.hpp>
#include <cmath>
#include <cstdio>

#include "agent/lab/hollow/control.h"
#include "agent/lab/hollow/nodes.h"
#include "platform/log.h"
#include "platform/proc/notify.h"
#include "platform/proxy/rules.h"
#include "platform/version.h"
#include "sync/objects/name.h"
#include "sync/objects/quantity.h"

namespace holdfast::agent::hollow {
namespace {

constexpr int nodes_max = 100'000;

Status refuse_flag(const std::string& flag, const std::string& problem) {
  return fail(Errc::invalid, "--" + flag + ": " + problem);
}

Status check_numbers(const NodesSettings& settings) {
  const Plan& plan = settings.plan;
  if (settings.count < 1 || settings.count > nodes_max) {
    return refuse_flag("count", "must lie between 1 and " + std::to_string(nodes_max));
  }
  if (settings.zones < 1) return refuse_flag("zones", "must be above zero");
  if (plan.lease_interval < std::chrono::milliseconds(100)) {
    return refuse_flag("lease-interval", "must be at least 100ms");
  }
  if (std::chrono::seconds(settings.lease_seconds) <= plan.lease_interval) {
    return refuse_flag("lease-seconds", "must be above --lease-interval");
  }
  if (plan.status_interval < std::chrono::seconds(1)) {
    return refuse_flag("status-interval", "must be at least 1s");
  }
  const std::pair<const char*, Duration> delays[] = {{"pods-start", plan.pods_start},
                                                     {"pods-stop", plan.pods_stop},
                                                     {"pod-lifetime", plan.pod_lifetime}};
  for (const auto& [flag, delay] : delays) {
    if (delay < Duration::zero()) return refuse_flag(flag, "must not be negative");
  }
  return {};
}

// A limit below the nodes' own requests would let leases expire.
Status check_qps(const NodesSettings& settings) {
  if (!std::isfinite(settings.qps) || settings.qps <= 0)
    return refuse_flag("qps", "must be above zero");
  const auto seconds = [](Duration interval) {
    return std::chrono::duration<double>(interval).count();
  };
  const double needed = settings.count * (1 / seconds(settings.plan.lease_interval) +
                                          2 / seconds(settings.plan.status_interval));
  if (settings.qps >= needed) return {};
  return refuse_flag("qps", std::to_string(settings.count) + " nodes need at least " +
                                std::to_string(static_cast<std::int64_t>(std::ceil(needed))) +
                                " requests per second for their leases and statuses");
}

Status check_quantities(const Plan& plan) {
  const std::pair<const char*, const std::string*> capacity[] = {
      {"cpu", &plan.cpu}, {"memory", &plan.memory}, {"pods", &plan.pods}};
  for (const auto& [flag, text] : capacity) {
    if (!sync::objects::Quantity::parse(*text)) {
      return refuse_flag(flag, "\"" + *text + "\" is not a quantity");
    }
  }
  return {};
}

Result<std::pair<std::string, std::string>> key_and_value(const std::string& flag,
                                                          const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    return fail(Errc::invalid, "--" + flag + ": \"" + text + "\" is not key=value");
  }
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

Result<sync::Taint> parse_taint(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  const std::string effect = colon == std::string::npos ? "" : text.substr(colon + 1);
  if (effect != "NoSchedule" && effect != "PreferNoSchedule" && effect != "NoExecute") {
    return fail(Errc::invalid, "--taints: \"" + text +
                                   "\" does not end with :NoSchedule, :PreferNoSchedule or "
                                   ":NoExecute");
  }
  const std::string before = text.substr(0, colon);
  const std::size_t equals = before.find('=');
  sync::Taint taint;
  taint.key = before.substr(0, equals);
  if (equals != std::string::npos) taint.value = before.substr(equals + 1);
  taint.effect = effect;
  if (taint.key.empty()) return fail(Errc::invalid, "--taints: \"" + text + "\" has no key");
  return taint;
}

// HTTP/1.1 connections are kept as long as there may be so many requests at the same time.
http::ClientLimits client_limits(const Plan& plan) {
  http::ClientLimits limits;
  limits.idle_connections = plan.requests_max;
  limits.idle_total = plan.requests_max;
  return limits;
}

// The first request: it shows whether the server can be reached and the credentials suffice.
asio::awaitable<Status> check_server(ApiClient& client, std::string kubeconfig,
                                     const Clock& clock) {
  ApiRequest request{.target = "/api/v1/nodes?limit=1"};
  const auto answer =
      co_await client.call(std::move(request), clock.mono() + std::chrono::seconds(10));
  Status done;
  if (!answer) done = fail("list nodes with " + kubeconfig, answer.error());
  co_return done;
}

// Logs when all nodes are registered.
asio::awaitable<void> announce(HollowNodes& nodes, std::string control, const Clock& clock) {
  const MonoTime start = clock.mono();
  (void)co_await nodes.joined(MonoTime::max());
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(clock.mono() - start);
  log_info("nodes registered",
           {{"nodes", nodes.registered()}, {"took", format_duration(took)}, {"control", control}});
}

asio::awaitable<Status> run_fleet(NodesSettings settings, Plan plan, loop::Stop& stop,
                                  const Clock& clock) {
  const auto executor = co_await asio::this_coro::executor;
  CO_TRY(ClusterAccess access, read_kubeconfig(settings.kubeconfig, settings.context));
  access.environment = proxy::Rules::from(proc::system_environment);
  log_warnings_about(access);
  const http::ClientLimits limits = client_limits(plan);
  const std::string agent = "holdfast-lab-nodes/" + std::string(version);
  CO_TRY(const auto client, ApiClient::make(std::move(access), clock, agent, limits));
  const Status reached = co_await check_server(*client, settings.kubeconfig, clock);
  if (!reached) co_return reached;
  HollowNodes nodes(executor, std::move(plan), *client, settings.qps, clock);
  ControlServer control(executor, nodes, clock);
  const Status listening = control.listen(settings.control);
  if (!listening) co_return listening;
  nodes.start();
  loop::Tasks announcement(executor);
  announcement.spawn("announce", announce(nodes, control.address(), clock));
  co_await stop.wait();
  announcement.cancel();
  nodes.cancel();
  co_await control.stop(clock.mono() + loop::drain_limit);
  co_await announcement.join();
  co_await nodes.join();
  Status done;
  if (settings.delete_on_exit) done = co_await nodes.remove_all();
  co_return done;
}

}  // namespace

void add_nodes_options(config::Options& options, NodesSettings& settings) {
  Plan& plan = settings.plan;
  options.add_rest("command", settings.words,
                   "silence NAME..., resume NAME... or list: tell the process at --control; "
                   "without it, run the nodes");
  options.add("kubeconfig", settings.kubeconfig, "kubeconfig of the API server");
  options.add("context", settings.context, "context of the kubeconfig; empty: its current one");
  options.add("count", settings.count, "number of nodes");
  options.add("name-prefix", settings.name_prefix, "the nodes are called PREFIX0, PREFIX1, ...");
  options.add("zone", settings.zone, "zone of the nodes; with --zones above 1, its prefix");
  options.add("zones", settings.zones,
              "number of zones: ZONE-0, ZONE-1, ...; the nodes are dealt out in turn");
  options.add("labels", settings.labels, "more labels of the nodes: key=value");
  options.add("taints", settings.taints,
              "taints of the nodes: key=value:Effect; they keep other workloads away");
  options.add("cpu", plan.cpu, "CPUs of each node");
  options.add("memory", plan.memory, "memory of each node");
  options.add("pods", plan.pods, "pods that fit on each node");
  options.add("lease-interval", plan.lease_interval, "time between two renewals of a node's lease");
  options.add("lease-seconds", settings.lease_seconds, "spec.leaseDurationSeconds");
  options.add("status-interval", plan.status_interval, "time between two statuses of a node");
  options.add("pods-start", plan.pods_start, "time until a pod is Running and Ready");
  options.add("pods-stop", plan.pods_stop, "time until a deleted pod is gone");
  options.add("pod-lifetime", plan.pod_lifetime,
              "time until a pod with restartPolicy Never or OnFailure, such as those of a Job, "
              "succeeds");
  options.add("pod-selector", plan.pod_selector, "run only pods with these labels; empty: all");
  options.add("qps", settings.qps, "limit for requests per second");
  options.add("delete-on-exit", settings.delete_on_exit, "delete the nodes at the end");
  options.add("control", settings.control, "loopback address of the process; port 0: a free one");
  options.add("selector", settings.selector, "with silence and resume: labels of the nodes");
}

Result<Plan> plan_of(const NodesSettings& settings) {
  if (auto good = check_numbers(settings); !good) return fail(good.error());
  if (auto good = check_qps(settings); !good) return fail(good.error());
  if (auto good = check_quantities(settings.plan); !good) return fail(good.error());
  Plan plan = settings.plan;
  plan.lease_seconds = settings.lease_seconds;
  for (const std::string& text : settings.labels) {
    TRY(const auto label, key_and_value("labels", text));
    plan.labels.set(label.first, label.second);
  }
  for (const std::string& text : settings.taints) {
    TRY(sync::Taint taint, parse_taint(text));
    plan.taints.push_back(std::move(taint));
  }
  plan.nodes.reserve(static_cast<std::size_t>(settings.count));
  for (int number = 0; number < settings.count; ++number) {
    plan.nodes.push_back(settings.name_prefix + std::to_string(number));
  }
  const auto reasons = sync::objects::check_dns1123_subdomain(plan.nodes.back());
  if (!reasons.empty()) {
    return fail(Errc::invalid, "--name-prefix " + settings.name_prefix + ": " + reasons.front());
  }
  for (int number = 0; number < settings.zones && !settings.zone.empty(); ++number) {
    plan.zones.push_back(settings.zones == 1 ? settings.zone
                                             : settings.zone + "-" + std::to_string(number));
  }
  return plan;
}

asio::awaitable<Status> run_nodes(NodesSettings settings, loop::Stop& stop, const Clock& clock) {
  Status done;
  if (!settings.words.empty()) {
    Choice choice{.names = {settings.words.begin() + 1, settings.words.end()},
                  .selector = settings.selector};
    std::string action = settings.words.front();
    CO_TRY(const std::string text,
           co_await send_command(settings.control, std::move(action), std::move(choice), clock));
    (void)std::fputs(text.c_str(), stdout);
    co_return done;
  }
  if (settings.kubeconfig.empty()) co_return fail(Errc::invalid, "--kubeconfig is missing");
  CO_TRY(Plan plan, plan_of(settings));
  co_return co_await run_fleet(std::move(settings), std::move(plan), stop, clock);
}

}  // namespace holdfast::agent::hollow
