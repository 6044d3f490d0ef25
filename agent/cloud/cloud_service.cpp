#include "agent/cloud/cloud_service.h"

#include <algorithm>
#include <utility>

#include "agent/client/kubeconfig.h"
#include "platform/log.h"
#include "platform/loop/randomness.h"
#include "platform/loop/timer.h"
#include "platform/version.h"
#include "sync/wire/protobuf/envelope.h"

namespace holdfast::agent {

namespace lifecycle = sync::lifecycle;

namespace {

// Small objects that the controller may list anyway.
constexpr std::string_view probe_target =
    "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases?limit=1";
constexpr std::string_view scheduler_probe_target = "/api/v1/namespaces?limit=1";

constexpr Duration api_call_limit = std::chrono::seconds(10);
// The next leader waits for both: half a second each keeps a hand-over well below two seconds.
constexpr Duration last_writes_limit = std::chrono::milliseconds(500);
constexpr Duration release_limit = std::chrono::milliseconds(500);

Result<ClusterAccess> access_of(const CloudSettings& settings) {
  auto access = settings.kubeconfig.empty()
                    ? in_cluster_access(proc::system_environment)
                    : read_kubeconfig(settings.kubeconfig, settings.context);
  if (access) access->environment = settings.proxies;
  return access;
}

// Extenders are sent whole objects.
ClusterFeeds::Encoding encoding_of(const CloudSettings& settings, const CloudPlan& plan) {
  return {.protobuf = settings.kube_api_content_type == sync::wire::protobuf_type,
          .whole = plan.scheduler && !plan.scheduler->extenders.empty()};
}

std::unique_ptr<Leader> make_leader(asio::any_io_executor executor, const CloudPlan& plan,
                                    const LeaderSettings& settings, ApiClient& client,
                                    const Clock& clock, Random& random, Leader::Hooks hooks) {
  if (!settings.elect || !plan.lifecycle()) return nullptr;
  return std::make_unique<Leader>(std::move(executor), settings, make_identity(random), client,
                                  clock, std::move(hooks));
}

}  // namespace

Result<std::unique_ptr<CloudService>> CloudService::make(asio::any_io_executor executor,
                                                         const CloudSettings& settings,
                                                         const Clock& clock,
                                                         std::function<void()> give_up) {
  TRY(CloudPlan plan, plan_of(settings));
  for (const std::string& warning : plan.warnings) log_warn(warning);
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
  std::unique_ptr<CloudService> made(new CloudService(
      executor, settings, std::move(plan), std::move(clients), clock, std::move(give_up)));
  if (auto added = made->add_scheduler(std::move(executor), access); !added) {
    return fail(added.error());
  }
  return made;
}

Status CloudService::add_scheduler(asio::any_io_executor executor, const ClusterAccess& access) {
  if (!plan_.scheduler) return {};
  SchedulerService::Hooks hooks{
      [this](const std::string& why) { end(why); },
      [this](const auto& request) { metrics_.requested(request.method, request.status); }};
  SchedulerService::Settings settings{*plan_.scheduler, plan_.scheduler_leader, settings_.requests};
  TRY(scheduler_, SchedulerService::make(std::move(executor), std::move(settings), access,
                                         *clients_.memory, clock_, std::move(hooks)));
  scheduler_->subscribe(feeds_);
  return {};
}

CloudService::CloudService(asio::any_io_executor executor, const CloudSettings& settings,
                           CloudPlan plan, Clients clients, const Clock& clock,
                           std::function<void()> give_up)
    : settings_(settings),
      plan_(std::move(plan)),
      clients_(std::move(clients)),
      clock_(clock),
      give_up_(std::move(give_up)),
      random_(loop::make_random(executor)),
      contact_(clock.mono(), plan_.rules.monitor_grace / 2),
      contact_changed_(executor),
      controller_(plan_.rules, plan_.enabled),
      metrics_(clients_.rules->access().server.text(), plan_.rules, controller_, clock),
      missing_rights_(clock),
      leader_(make_leader(
          executor, plan_, settings_.leader, *clients_.election, clock, random_,
          {[this] { start_if_ready(); }, [this](const std::string& why) { end(why); }})),
      limited_(*clients_.rules, settings_.requests,
               leader_ ? static_cast<WritePermit&>(*leader_) : static_cast<WritePermit&>(always_),
               clock, [this](const auto& request) { requested(request); }),
      writer_(executor, limited_, plan_.rules, clock, random_, clients_.provider.get()),
      lifecycle_(executor, controller_, *this, clock,
                 {.at_once = static_cast<std::size_t>(settings_.concurrent_node_updates)},
                 &metrics_),
      feeds_(*this, *clients_.memory, clock, random_,
             {[this] { feeds_changed(); }, [this] { note_failure(); },
              [this](std::string_view kind) { metrics_.skipped(kind); }},
             encoding_of(settings_, plan_)),
      endpoints_(executor, pages()),
      tasks_(executor) {
  if (plan_.lifecycle()) subscribe_lifecycle();
}

template <class T>
void CloudService::feed_lifecycle() {
  feeds_.subscribe<T>(
      needs_, [this](const T& object) { lifecycle_.feed(sync::control::Changed<T>{object}); },
      [this](const ClusterFeeds::Name& name) {
        lifecycle_.feed(sync::control::Removed<T>{name.first, name.second});
      });
}

void CloudService::subscribe_lifecycle() {
  feed_lifecycle<sync::Node>();
  feed_lifecycle<sync::Pod>();
  feed_lifecycle<sync::Lease>();
  // Only direct eviction leaves the pods of DaemonSets alone by itself.
  if (!plan_.rules.taint_based_evictions) feed_lifecycle<sync::DaemonSet>();
}

Endpoints::Pages CloudService::pages() {
  Endpoints::Pages pages;
  if (leader_) pages.healthy.push_back({"leaderElection", [this] { return leader_->health(); }});
  if (plan_.scheduler) {
    pages.healthy.push_back({"schedulerLeaderElection", [this] { return scheduler_->health(); }});
  }
  pages.ready = {{"caches", [this] { return complete(); }},
                 {"watches", [this] { return progress(); }},
                 {"api-server-contact", [this]() -> Status {
                    if (needs_.out_of_memory())
                      return fail(Errc::exhausted, "a list exceeds --heap-max");
                    if (!contact_.is_lost()) return {};
                    return fail(Errc::unavailable, "the API server does not answer");
                  }}};
  pages.metrics = [this] { return metrics(); };
  return pages;
}

std::string CloudService::metrics() {
  CloudMetrics::States states{.elections = {},
                              .started = !plan_.lifecycle() || lifecycle_.has_started(),
                              .contact_lost = contact_.is_lost(),
                              .saturation = limited_.saturation()};
  if (leader_) states.elections[settings_.leader.resource_name] = leads();
  if (!scheduler_) return metrics_.text(lifecycle_.queue(), states);
  states.started = states.started && scheduler_->acts();
  if (!scheduler_->election().empty()) {
    states.elections[scheduler_->election()] = scheduler_->leads();
  }
  return metrics_.text(lifecycle_.queue(), states) + scheduler_->metrics();
}

Status CloudService::start() {
  if (auto listening = endpoints_.listen(settings_.endpoints); !listening) return listening;
  tasks_.spawn("probe", probe());
  if (plan_.lifecycle()) start_lifecycle();
  if (scheduler_) scheduler_->start();
  feeds_.start(tasks_);
  return {};
}

void CloudService::start_lifecycle() {
  tasks_.spawn("lifecycle", lifecycle_.run());
  tasks_.spawn("events", writer_.retry_events());
  if (leader_) leader_->start();
}

asio::awaitable<void> CloudService::stop(MonoTime deadline) {
  tasks_.cancel();
  if (scheduler_) co_await scheduler_->stop(deadline, last_writes_limit);
  // Without leadership nothing is under way that may still be sent.
  const Duration patience = leads() ? last_writes_limit : Duration::zero();
  co_await lifecycle_.stop(std::min(deadline, clock_.mono() + patience));
  co_await tasks_.join();
  if (leader_) co_await leader_->release(std::min(deadline, clock_.mono() + release_limit));
  co_await endpoints_.stop(std::min(deadline, clock_.mono() + last_writes_limit));
}

asio::awaitable<Result<http::Response>> CloudService::send(ApiRequest request, bool streamed) {
  co_return co_await limited_.send(std::move(request), streamed, api_call_limit);
}

asio::awaitable<lifecycle::Outcome> CloudService::perform(lifecycle::Effect effect) {
  if (controller_.is_obsolete(effect)) {
    lifecycle::Outcome gone;
    gone.error = Errc::not_found;
    co_return gone;
  }
  co_return co_await writer_.perform(std::move(effect));
}

void CloudService::requested(const LimitedClient::Observation& request) {
  metrics_.requested(request.method, request.status);
  if (request.lacks_right) {
    missing_rights_.refused(http::to_string(request.method), request.target);
  }
  request.is_healthy ? note_answer() : note_failure();
}

void CloudService::note_answer() {
  if (scheduler_) scheduler_->feeds_changed();
  // The server answers, but what is known of the nodes is outdated.
  if (needs_.out_of_memory()) return;
  const bool was_lost = contact_.is_lost();
  if (contact_.note_answer(clock_.mono())) {
    log_warn("API server reachable again, grace periods of all nodes restarted");
    lifecycle_.feed(lifecycle::ContactRestored{});
  }
  if (was_lost && final_status_) lifecycle_.resume();
  start_if_ready();
}

void CloudService::feeds_changed() {
  if (scheduler_) scheduler_->feeds_changed();
  if (!needs_.out_of_memory()) start_if_ready();
}

void CloudService::note_failure() {
  if (scheduler_) scheduler_->feeds_changed();
  if (contact_.is_lost()) return;
  contact_.note_failure(clock_.mono());
  log_warn("evictions paused",
           {{"reason", needs_.out_of_memory() ? "a list exceeds --heap-max"
                                              : "the API server does not answer"}});
  lifecycle_.pause();
  contact_changed_.notify_all();
}

Status CloudService::complete() const {
  if (auto complete = needs_.complete(); !complete) return complete;
  return scheduler_ ? scheduler_->complete() : Status();
}

Status CloudService::progress() const {
  if (auto alive = needs_.progress(clock_.mono()); !alive) return alive;
  return scheduler_ ? scheduler_->progress() : Status();
}

void CloudService::start_if_ready() {
  if (lifecycle_.has_started() || !final_status_ || (lifecycle_.is_following() && !leads())) return;
  if (!plan_.lifecycle() || !needs_.complete()) return;
  if (!leads()) {
    log_info("standing by until this replica leads", {{"nodes", controller_.fleet().size()}});
    lifecycle_.follow();
    return;
  }
  log_info("started", {{"nodes", controller_.fleet().size()}, {"pods", controller_.pods().size()}});
  lifecycle_.start();
}

// The process must end: another replica may already write, or what is known is not true any more.
void CloudService::end(const std::string& why) {
  final_status_ = fail(Errc::conflict, why);
  lifecycle_.pause();
  if (scheduler_) scheduler_->pause();
  if (give_up_) give_up_();
}

asio::awaitable<void> CloudService::probe() {
  while (true) {
    const MonoTime due = contact_.probe_due();
    if (due > clock_.mono()) {
      (void)co_await contact_changed_.wait_until(due);
      continue;
    }
    const auto target = plan_.lifecycle() ? probe_target : scheduler_probe_target;
    ApiRequest request{.target = std::string(target)};
    contact_.note_probe(clock_.mono());
    (void)co_await limited_.send(std::move(request), false, contact_.probe_limit());
  }
}

}  // namespace holdfast::agent
