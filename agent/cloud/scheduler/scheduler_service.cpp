#include "agent/cloud/scheduler/scheduler_service.h"

#include <algorithm>
#include <utility>

#include "platform/log.h"
#include "platform/loop/randomness.h"
#include "platform/version.h"

namespace holdfast::agent {
namespace {

constexpr EffectLimits effect_limits{.at_once = 32, .reports = 10'000};

// The number of worker threads besides the loop's thread.
std::size_t threads_of(const SchedulerPlan& plan) {
  const auto most = static_cast<std::size_t>(plan.parallelism);
  return std::min(loop::Workers::processors(), most) - 1;
}

sync::schedule::SchedulerOptions options_of(const SchedulerPlan& plan, loop::Workers& workers) {
  sync::schedule::SchedulerOptions options{.name = plan.name,
                                           .queue = plan.queue,
                                           .attempt = plan.attempt,
                                           .plugins = plan.plugins,
                                           .limits = plan.limits,
                                           .extenders = {},
                                           .volumes_max = plan.volumes_max};
  options.extenders.assign(plan.extenders.begin(), plan.extenders.end());
  if (threads_of(plan) == 0) return options;
  options.for_each = [&workers](std::size_t count, const auto& work) {
    workers.for_each(count, work);
  };
  return options;
}

}  // namespace

Result<std::unique_ptr<SchedulerService>> SchedulerService::make(asio::any_io_executor executor,
                                                                 Settings settings,
                                                                 const ClusterAccess& access,
                                                                 CloudMemory& memory,
                                                                 const Clock& clock, Hooks hooks) {
  const std::string agent = "holdfast-cloud/" + std::string(version) + " scheduler";
  Clients clients;
  const http::ClientLimits limits = memory.client_limits();
  TRY(clients.rules, ApiClient::make(access, clock, agent, limits, memory.answers()));
  TRY(clients.election,
      ApiClient::make(access, clock, agent + " leader-election", limits, memory.answers()));
  TRY(Extenders extenders, make_extenders(settings.plan, clock));
  return std::unique_ptr<SchedulerService>(
      new SchedulerService(std::move(executor), std::move(settings), std::move(clients),
                           std::move(extenders), clock, std::move(hooks)));
}

SchedulerService::SchedulerService(asio::any_io_executor executor, Settings settings,
                                   Clients clients, Extenders extenders, const Clock& clock,
                                   Hooks hooks)
    : settings_(std::move(settings)),
      clients_(std::move(clients)),
      hooks_(std::move(hooks)),
      random_(loop::make_random(executor)),
      leader_(settings_.leader.elect
                  ? std::make_unique<Leader>(
                        executor, settings_.leader, make_identity(random_), *clients_.election,
                        clock,
                        Leader::Hooks{[this] { start_if_ready(); },
                                      [this](const std::string& why) { end(why); }})
                  : nullptr),
      limited_(*clients_.rules, settings_.requests,
               leader_ ? static_cast<WritePermit&>(*leader_) : static_cast<WritePermit&>(always_),
               clock, hooks_.requested),
      workers_(executor, threads_of(settings_.plan)),
      machine_(options_of(settings_.plan, workers_), clock.mono(), loop::make_random(executor)),
      metrics_(settings_.plan.name),
      observer_(machine_, metrics_, clock),
      performer_(executor, settings_.plan.name, std::move(extenders), limited_, clock, random_),
      runner_(executor, machine_, performer_, clock, effect_limits, &observer_),
      clock_(clock),
      tasks_(executor) {}

void SchedulerService::start() {
  tasks_.spawn("schedule", runner_.run());
  tasks_.spawn("scheduler events", performer_.retry_events());
  if (leader_) leader_->start();
}

void SchedulerService::pause() {
  ended_ = true;
  runner_.pause();
}

asio::awaitable<void> SchedulerService::stop(MonoTime deadline, Duration patience) {
  pause();
  tasks_.cancel();
  const Duration given = leads() ? patience : Duration::zero();
  co_await runner_.stop(std::min(deadline, clock_.mono() + given));
  co_await tasks_.join();
  if (leader_) co_await leader_->release(std::min(deadline, clock_.mono() + patience));
}

void SchedulerService::start_if_ready() {
  if (ended_ || acts() || !leads() || !complete() || !storage_.settled()) return;
  log_info("scheduler started", {{"name", settings_.plan.name},
                                 {"nodes", machine_.state().cluster().nodes().size()},
                                 {"pods", machine_.state().cluster().pods()}});
  runner_.resume();
  runner_.start();
}

void SchedulerService::end(const std::string& why) {
  pause();
  hooks_.end(why);
}

template <class T>
void SchedulerService::feed(ClusterFeeds& feeds, ClusterFeeds::Subscription& needs) {
  feeds.subscribe<T>(
      needs, [this](const T& object) { runner_.feed(sync::control::Changed<T>{object}); },
      [this](const ClusterFeeds::Name& name) {
        runner_.feed(sync::control::Removed<T>{name.first, name.second});
      });
}

void SchedulerService::subscribe(ClusterFeeds& feeds) {
  feed<sync::Node>(feeds, needs_);
  feed<sync::Pod>(feeds, needs_);
  feed<sync::Namespace>(feeds, needs_);
  feed<sync::PodDisruptionBudget>(feeds, needs_);
  feed<sync::PersistentVolumeClaim>(feeds, storage_);
  feed<sync::PersistentVolume>(feeds, storage_);
  feed<sync::StorageClass>(feeds, storage_);
  feed<sync::CsiNode>(feeds, storage_);
}

void SchedulerService::note_storage() {
  const Status current = storage_.current(clock_.mono());
  std::string why = current ? "" : current.error().what;
  if (why == storage_missing_) return;
  storage_missing_ = why;
  if (storage_.settled()) {
    if (why.empty()) {
      log_info("volumes known", {{"scheduler", settings_.plan.name}});
    } else {
      log_warn("pods with claims wait", {{"scheduler", settings_.plan.name}, {"why", why}});
    }
  }
  runner_.feed(sync::schedule::StorageMissing{std::move(why)});
}

void SchedulerService::feeds_changed() {
  note_storage();
  if (needs_.out_of_memory()) {
    runner_.pause();
  } else {
    start_if_ready();
  }
}

Status SchedulerService::progress() const { return needs_.progress(clock_.mono()); }

Status SchedulerService::complete() const {
  if (needs_.out_of_memory()) {
    return fail(Errc::exhausted, "the scheduler's lists exceed --heap-max");
  }
  return needs_.complete();
}

}  // namespace holdfast::agent
