#include "agent/cloud/daemon.h"

#include <algorithm>
#include <utility>

#include "agent/client/kubeconfig.h"
#include "platform/log.h"
#include "platform/loop/timer.h"
#include "platform/version.h"
#include "sync/protobuf/envelope.h"

namespace holdfast::agent {

namespace lifecycle = sync::lifecycle;

namespace {

constexpr std::string_view nodes_path = "/api/v1/nodes";
constexpr std::string_view pods_path = "/api/v1/pods";
constexpr std::string_view leases_path =
    "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
constexpr std::string_view daemon_sets_path = "/apis/apps/v1/daemonsets";

constexpr Duration api_call_limit = std::chrono::seconds(10);
constexpr Duration probe_pause = std::chrono::seconds(2);
// The next leader waits for both: half a second each keeps a hand-over well below two seconds.
constexpr Duration last_writes_limit = std::chrono::milliseconds(500);
constexpr Duration release_limit = std::chrono::milliseconds(500);

Result<ClusterAccess> access_of(const CloudSettings& settings) {
  if (settings.kubeconfig.empty()) return in_cluster_access(proc::system_environment);
  return read_kubeconfig(settings.kubeconfig, settings.context);
}

std::unique_ptr<Leader> make_leader(asio::any_io_executor executor, const CloudPlan& plan,
                                    const LeaderSettings& settings, ApiClient& client,
                                    const Clock& clock, Random& random, Leader::Hooks hooks) {
  if (!settings.elect || !plan.lifecycle()) return nullptr;
  return std::make_unique<Leader>(std::move(executor), settings, make_identity(random), client,
                                  clock, std::move(hooks));
}

}  // namespace

Result<std::unique_ptr<Daemon>> Daemon::make(asio::any_io_executor executor,
                                             const CloudSettings& settings, const Clock& clock,
                                             std::function<void()> give_up) {
  TRY(CloudPlan plan, plan_of(settings));
  TRY(const ClusterAccess access, access_of(settings));
  log_warnings_about(access);
  const std::string agent = "holdfast-cloud/" + std::string(version);
  Clients clients;
  clients.memory = std::make_unique<CloudMemory>(
      CloudMemoryLimits{.heap_bytes = static_cast<std::size_t>(settings.heap_max)});
  const http::ClientLimits limits = clients.memory->client_limits();
  const auto& answers = clients.memory->answers();
  TRY(clients.rules, ApiClient::make(access, clock, agent, limits, answers));
  TRY(clients.election,
      ApiClient::make(access, clock, agent + " leader-election", limits, answers));
  if (!settings.node_exists_url.empty()) {
    auto provider = Provider::make(settings.node_exists_url, clock);
    if (!provider) return fail("--node-exists-url", provider.error());
    clients.provider = *std::move(provider);
  }
  std::unique_ptr<Daemon> made(new Daemon(executor, settings, std::move(plan), std::move(clients),
                                          clock, std::move(give_up)));
  if (auto added = made->add_scheduler(std::move(executor), access); !added) {
    return fail(added.error());
  }
  return made;
}

Status Daemon::add_scheduler(asio::any_io_executor executor, const ClusterAccess& access) {
  if (!plan_.scheduler) return {};
  SchedulerDaemon::Hooks hooks{
      [this](const std::string& why) { lost(why); },
      [this](http::Method method, int status) { metrics_.requested(method, status); },
      [this](std::string_view kind) { metrics_.skipped(kind); }};
  SchedulerDaemon::Settings settings{*plan_.scheduler, plan_.scheduler_leader, settings_.requests,
                                     settings_.kube_api_content_type == sync::protobuf_type};
  TRY(scheduler_, SchedulerDaemon::make(std::move(executor), std::move(settings), access,
                                        *clients_.memory, clock_, std::move(hooks)));
  return {};
}

Daemon::Daemon(asio::any_io_executor executor, const CloudSettings& settings, CloudPlan plan,
               Clients clients, const Clock& clock, std::function<void()> give_up)
    : settings_(settings),
      plan_(std::move(plan)),
      clients_(std::move(clients)),
      clock_(clock),
      give_up_(std::move(give_up)),
      random_(Random::from_entropy()),
      hearing_(clock.mono(), plan_.rules.monitor_grace / 2),
      hearing_changed_(executor),
      metrics_(clients_.rules->access().server.text(), plan_.rules, clock),
      leader_(
          make_leader(executor, plan_, settings_.leader, *clients_.election, clock, random_,
                      {[this] { maybe_begin(); }, [this](const std::string& why) { lost(why); }})),
      limited_(*clients_.rules, settings_.requests,
               leader_ ? static_cast<WritePermit&>(*leader_) : static_cast<WritePermit&>(always_),
               clock, [this](http::Method method, int status) { requested(method, status); }),
      writer_(executor, limited_, plan_.rules, clock, random_, clients_.provider.get()),
      cloud_(executor, plan_.rules, plan_.parts, *this, clock,
             {.at_once = static_cast<std::size_t>(settings_.concurrent_node_updates)}, &metrics_),
      nodes_([this](const auto& node) { cloud_.set(node); },
             [this](const auto& name) { cloud_.remove_node(name.second); }, [this] { heard(); },
             [this] { metrics_.skipped(sync::Node::kind); }),
      pods_([this](const auto& pod) { cloud_.set(pod); },
            [this](const auto& name) { cloud_.remove_pod(name.first, name.second); },
            [this] { heard(); }, [this] { metrics_.skipped(sync::Pod::kind); }),
      leases_([this](const auto& lease) { cloud_.set(lease); },
              [this](const auto& name) { cloud_.remove_lease(name.second); }, [this] { heard(); },
              [this] { metrics_.skipped(sync::Lease::kind); }),
      daemon_sets_([this](const auto& set) { cloud_.set(set); },
                   [this](const auto& name) { cloud_.remove_daemon_set(name.first, name.second); },
                   [this] { heard(); }, [this] { metrics_.skipped(sync::DaemonSet::kind); }),
      endpoints_(executor, pages()),
      tasks_(executor) {
  nodes_.keep_within(*clients_.memory, [this] { failed(); });
  pods_.keep_within(*clients_.memory, [this] { failed(); });
  leases_.keep_within(*clients_.memory, [this] { failed(); });
  daemon_sets_.keep_within(*clients_.memory, [this] { failed(); });
}

bool Daemon::out_of_memory() const {
  return nodes_.out_of_memory() || pods_.out_of_memory() || leases_.out_of_memory() ||
         daemon_sets_.out_of_memory();
}

Endpoints::Pages Daemon::pages() {
  Endpoints::Pages pages;
  if (leader_) pages.healthy.push_back({"leaderElection", [this] { return leader_->health(); }});
  if (plan_.scheduler) {
    pages.healthy.push_back({"schedulerLeaderElection", [this] { return scheduler_->health(); }});
  }
  pages.ready = {{"caches", [this] { return complete(); }},
                 {"hearing", [this]() -> Status {
                    if (out_of_memory()) return fail(Errc::exhausted, "a list exceeds --heap-max");
                    if (!hearing_.deaf()) return {};
                    return fail(Errc::unavailable, "the API server does not answer");
                  }}};
  pages.metrics = [this] { return metrics(); };
  return pages;
}

std::string Daemon::metrics() {
  CloudMetrics::States states{.elections = {},
                              .started = !plan_.lifecycle() || cloud_.started(),
                              .deaf = hearing_.deaf(),
                              .saturation = limited_.saturation()};
  if (leader_) states.elections[settings_.leader.resource_name] = leads();
  if (!scheduler_) return metrics_.text(cloud_, states);
  states.started = states.started && scheduler_->scheduler().started();
  if (!scheduler_->election().empty()) {
    states.elections[scheduler_->election()] = scheduler_->leads();
  }
  return metrics_.text(cloud_, states) + scheduler_->metrics();
}

Status Daemon::start() {
  if (auto listening = endpoints_.listen(settings_.endpoints); !listening) return listening;
  if (plan_.lifecycle()) start_lifecycle();
  if (scheduler_) scheduler_->start();
  return {};
}

void Daemon::start_lifecycle() {
  tasks_.spawn("rules", cloud_.run());
  tasks_.spawn("listen", listen());
  tasks_.spawn("events", writer_.retry_events());
  watch(std::string(nodes_path), nodes_);
  watch(std::string(pods_path), pods_);
  watch(std::string(leases_path), leases_);
  // Only direct eviction must recognize the pods of DaemonSets; they tolerate the taints.
  if (!plan_.rules.taint_based_evictions) watch(std::string(daemon_sets_path), daemon_sets_);
  if (leader_) leader_->start();
}

asio::awaitable<void> Daemon::stop(MonoTime deadline) {
  tasks_.cancel();
  if (scheduler_) co_await scheduler_->stop(deadline, last_writes_limit);
  // A replica that does not lead has no write that may still be sent.
  const Duration patience = leads() ? last_writes_limit : Duration::zero();
  co_await cloud_.stop(std::min(deadline, clock_.mono() + patience));
  co_await tasks_.join();
  if (leader_) co_await leader_->release(std::min(deadline, clock_.mono() + release_limit));
  co_await endpoints_.stop(std::min(deadline, clock_.mono() + last_writes_limit));
}

void Daemon::watch(std::string path, ListWatchSink& sink) {
  std::string name = "watch " + path;
  tasks_.spawn(std::move(name), list_watch(std::move(path), sink));
}

asio::awaitable<void> Daemon::list_watch(std::string path, ListWatchSink& sink) {
  const bool protobuf = settings_.kube_api_content_type == sync::protobuf_type;
  ListWatchTarget target{.path = std::move(path), .ask_protobuf = protobuf};
  // Renewals are applied in batches; 100 ms is short compared with any grace period.
  if (target.path == leases_path) target.gather = std::chrono::milliseconds(100);
  clients_.memory->limit(target);
  co_await run_list_watch(std::move(target), *this, sink, clock_, random_);
}

asio::awaitable<Result<http::Response>> Daemon::send(ApiRequest request, bool streamed) {
  co_return co_await limited_.send(std::move(request), streamed, api_call_limit);
}

// A queued action may have become unnecessary: the pod is being deleted already.
asio::awaitable<lifecycle::Outcome> Daemon::perform(lifecycle::Action action) {
  if (cloud_.rules().is_moot(action)) {
    lifecycle::Outcome gone;
    gone.error = Errc::not_found;
    co_return gone;
  }
  co_return co_await writer_.perform(std::move(action));
}

// A 5xx counts as a failure: the server answers, but is not healthy.
void Daemon::requested(http::Method method, int status) {
  metrics_.requested(method, status);
  if (status == 0 || status >= 500) {
    failed();
  } else {
    heard();
  }
}

// Called for every answer and watch event. Ends a pause, and starts the controllers once everything
// is known.
void Daemon::heard() {
  if (out_of_memory()) return;  // The server answers, but the known objects are outdated.
  const bool was_deaf = hearing_.deaf();
  if (hearing_.heard(clock_.mono())) {
    log_warn("API server answers again, missed heartbeats are ignored");
    cloud_.forgive();
  }
  if (was_deaf && verdict_) cloud_.resume();
  maybe_begin();
}

// Pauses evictions at the first failure; heard() resumes them.
void Daemon::failed() {
  if (hearing_.deaf()) return;
  hearing_.failed();
  log_warn("evictions paused", {{"reason", out_of_memory() ? "a list exceeds --heap-max"
                                                           : "the API server does not answer"}});
  cloud_.pause();
  hearing_changed_.notify_all();
}

Status Daemon::complete() const {
  if (plan_.lifecycle()) {
    if (auto complete = lifecycle_complete(); !complete) return complete;
  }
  return scheduler_ ? scheduler_->complete() : Status();
}

Status Daemon::lifecycle_complete() const {
  const bool sets_wanted = !plan_.rules.taint_based_evictions;
  std::string missing;
  if (!nodes_.complete()) missing += " nodes";
  if (!pods_.complete()) missing += " pods";
  if (!leases_.complete()) missing += " leases";
  if (sets_wanted && !daemon_sets_.complete()) missing += " daemonsets";
  if (missing.empty()) return {};
  return fail(Errc::unavailable, "never received in full:" + missing);
}

// Starts acting, or goes on standby, as soon as all lists are complete.
void Daemon::maybe_begin() {
  if (cloud_.started() || !verdict_ || (cloud_.following() && !leads())) return;
  if (!lifecycle_complete()) return;
  if (!leads()) {
    log_info("on standby, another replica leads", {{"nodes", cloud_.rules().fleet().size()}});
    cloud_.follow();
    return;
  }
  log_info("started",
           {{"nodes", cloud_.rules().fleet().size()}, {"pods", cloud_.rules().pods().size()}});
  cloud_.start();
}

// The process must end: another replica may already write.
void Daemon::lost(const std::string& why) {
  verdict_ = fail(Errc::conflict, "leader election lost: " + why);
  cloud_.pause();
  if (scheduler_) scheduler_->pause();
  if (give_up_) give_up_();
}

// Probes the API server while it does not answer. Without that, a stalled watch would keep
// evictions paused although the server is back.
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
