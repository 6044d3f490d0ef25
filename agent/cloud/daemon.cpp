#include "agent/cloud/daemon.h"

#include <utility>

#include "agent/client/kubeconfig.h"
#include "platform/log.h"
#include "platform/loop/timer.h"
#include "platform/version.h"

namespace holdfast::agent {

namespace lifecycle = sync::lifecycle;

namespace {

constexpr std::string_view nodes_path = "/api/v1/nodes";
constexpr std::string_view pods_path = "/api/v1/pods";
constexpr std::string_view leases_path =
    "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
constexpr std::string_view daemon_sets_path = "/apis/apps/v1/daemonsets";

constexpr Duration request_limit = std::chrono::seconds(10);
constexpr Duration probe_pause = std::chrono::seconds(2);

bool is_no_answer(Errc code) { return code == Errc::unavailable || code == Errc::timeout; }

}  // namespace

Result<std::unique_ptr<Daemon>> Daemon::make(asio::any_io_executor executor,
                                             const CloudSettings& settings, const Clock& clock) {
  TRY(CloudPlan plan, plan_of(settings));
  TRY(ClusterAccess access, read_kubeconfig(settings.kubeconfig, settings.context));
  const std::string agent = "holdfast-cloud/" + std::string(version);
  TRY(auto client, ApiClient::make(std::move(access), clock, agent));
  std::unique_ptr<Provider> provider;
  if (!settings.node_exists_url.empty()) {
    auto made = Provider::make(settings.node_exists_url, clock);
    if (!made) return fail("--node-exists-url", made.error());
    provider = *std::move(made);
  }
  const WorkLimits limits{.at_once = static_cast<std::size_t>(settings.concurrent_node_updates)};
  return std::unique_ptr<Daemon>(
      new Daemon(std::move(executor), plan, std::move(client), std::move(provider), limits, clock));
}

Daemon::Daemon(asio::any_io_executor executor, CloudPlan plan, std::unique_ptr<ApiClient> client,
               std::unique_ptr<Provider> provider, WorkLimits limits, const Clock& clock)
    : plan_(plan),
      client_(std::move(client)),
      provider_(std::move(provider)),
      clock_(clock),
      random_(Random::from_entropy()),
      hearing_(clock.mono(), plan_.rules.monitor_grace / 2),
      hearing_changed_(executor),
      writer_(*client_, plan_.rules, clock, random_, provider_.get()),
      cloud_(executor, plan_.rules, plan_.parts, *this, clock, limits),
      nodes_([this](const auto& node) { cloud_.set(node); },
             [this](const auto& name) { cloud_.remove_node(name.second); }, [this] { heard(); }),
      pods_([this](const auto& pod) { cloud_.set(pod); },
            [this](const auto& name) { cloud_.remove_pod(name.first, name.second); },
            [this] { heard(); }),
      leases_([this](const auto& lease) { cloud_.set(lease); },
              [this](const auto& name) { cloud_.remove_lease(name.second); }, [this] { heard(); }),
      daemon_sets_([this](const auto& set) { cloud_.set(set); },
                   [this](const auto& name) { cloud_.remove_daemon_set(name.first, name.second); },
                   [this] { heard(); }),
      tasks_(executor) {}

void Daemon::start() {
  tasks_.spawn("rules", cloud_.run());
  tasks_.spawn("listen", listen());
  watch(std::string(nodes_path), nodes_);
  watch(std::string(pods_path), pods_);
  watch(std::string(leases_path), leases_);
  // Only direct eviction spares the pods of DaemonSets by itself.
  if (!plan_.rules.taint_based_evictions) watch(std::string(daemon_sets_path), daemon_sets_);
}

asio::awaitable<void> Daemon::stop(MonoTime deadline) {
  tasks_.cancel();
  co_await cloud_.stop(deadline);
  co_await tasks_.join();
}

void Daemon::watch(std::string path, ListWatchSink& sink) {
  std::string name = "watch " + path;
  tasks_.spawn(std::move(name), list_watch(std::move(path), sink));
}

asio::awaitable<void> Daemon::list_watch(std::string path, ListWatchSink& sink) {
  ListWatchTarget target{.path = std::move(path)};
  // A renewal that is seen a tenth of a second late is seen well before any grace has passed.
  if (target.path == leases_path) target.gather = std::chrono::milliseconds(100);
  co_await run_list_watch(std::move(target), *this, sink, clock_, random_);
}

asio::awaitable<Result<http::Response>> Daemon::send(ApiRequest request, bool streamed) {
  auto response =
      co_await client_->send(std::move(request), streamed, clock_.mono() + request_limit);
  if (!response || response->status >= 500) {
    failed();
  } else {
    heard();
  }
  co_return response;
}

asio::awaitable<lifecycle::Outcome> Daemon::perform(lifecycle::Action action) {
  const bool asks_provider = std::holds_alternative<lifecycle::AskProvider>(action);
  auto outcome = co_await writer_.perform(std::move(action));
  if (asks_provider) co_return outcome;  // It says nothing about the API server.
  if (outcome.error && is_no_answer(*outcome.error)) {
    failed();
  } else {
    heard();
  }
  co_return outcome;
}

void Daemon::heard() {
  const bool was_deaf = hearing_.deaf();
  if (hearing_.heard(clock_.mono())) {
    log_warn("API server is back, silence forgiven");
    cloud_.forgive();
  }
  if (was_deaf) cloud_.resume();
  begin_when_complete();
}

void Daemon::failed() {
  if (hearing_.deaf()) return;
  hearing_.failed();
  log_warn("API server does not answer, judging nobody");
  cloud_.pause();
  hearing_changed_.notify_all();
}

void Daemon::begin_when_complete() {
  if (cloud_.started()) return;
  const bool with_sets = plan_.rules.taint_based_evictions || daemon_sets_.complete();
  if (!nodes_.complete() || !pods_.complete() || !leases_.complete() || !with_sets) return;
  log_info("started",
           {{"nodes", cloud_.rules().fleet().size()}, {"pods", cloud_.rules().pods().size()}});
  cloud_.start();
}

// While nothing is heard somebody has to ask, or a watch that died silently would keep us deaf.
asio::awaitable<void> Daemon::listen() {
  while (true) {
    if (!hearing_.deaf()) {
      co_await hearing_changed_.wait();
      continue;
    }
    co_await loop::sleep_until(clock_.mono() + probe_pause);
    ApiRequest probe{.target = std::string(leases_path) + "?limit=1"};
    (void)co_await send(std::move(probe), false);
  }
}

}  // namespace holdfast::agent
