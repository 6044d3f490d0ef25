#include "agent/cloud/scheduler/scheduler_daemon.h"

#include <algorithm>
#include <utility>

#include "platform/log.h"
#include "platform/version.h"

namespace holdfast::agent {
Result<std::unique_ptr<SchedulerDaemon>> SchedulerDaemon::make(asio::any_io_executor executor,
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
  return std::unique_ptr<SchedulerDaemon>(
      new SchedulerDaemon(std::move(executor), std::move(settings), std::move(clients),
                          std::move(extenders), clock, std::move(hooks)));
}

SchedulerDaemon::SchedulerDaemon(asio::any_io_executor executor, Settings settings, Clients clients,
                                 Extenders extenders, const Clock& clock, Hooks hooks)
    : settings_(std::move(settings)),
      clients_(std::move(clients)),
      hooks_(std::move(hooks)),
      random_(Random::from_entropy()),
      leader_(settings_.leader.elect
                  ? std::make_unique<Leader>(
                        executor, settings_.leader, make_identity(random_), *clients_.election,
                        clock,
                        Leader::Hooks{[this] { maybe_begin(); },
                                      [this](const std::string& why) { lost(why); }})
                  : nullptr),
      limited_(*clients_.rules, settings_.requests,
               leader_ ? static_cast<WritePermit&>(*leader_) : static_cast<WritePermit&>(always_),
               clock, hooks_.requested),
      scheduler_(executor, settings_.plan, std::move(extenders), limited_, clock,
                 Random::from_entropy()),
      clock_(clock),
      tasks_(executor) {}

void SchedulerDaemon::start() {
  tasks_.spawn("schedule", scheduler_.run());
  tasks_.spawn("scheduler events", scheduler_.retry_events());
  if (leader_) leader_->start();
}

void SchedulerDaemon::pause() {
  ended_ = true;
  scheduler_.pause();
}

asio::awaitable<void> SchedulerDaemon::stop(MonoTime deadline, Duration patience) {
  pause();
  tasks_.cancel();
  const Duration given = leads() ? patience : Duration::zero();
  co_await scheduler_.stop(std::min(deadline, clock_.mono() + given));
  co_await tasks_.join();
  if (leader_) co_await leader_->release(std::min(deadline, clock_.mono() + patience));
}

void SchedulerDaemon::maybe_begin() {
  if (ended_ || scheduler_.started() || !leads() || !complete()) return;
  log_info("scheduler started", {{"name", settings_.plan.name},
                                 {"nodes", scheduler_.books().cluster().nodes().size()},
                                 {"pods", scheduler_.books().cluster().pods()}});
  scheduler_.start();
}

void SchedulerDaemon::lost(const std::string& why) {
  pause();
  hooks_.lost(why);
}

void SchedulerDaemon::subscribe(ClusterFeeds& feeds) {
  feeds.subscribe<sync::Node>(
      needs_, [this](const sync::Node& node) { scheduler_.set(node); },
      [this](const ClusterFeeds::Name& name) { scheduler_.remove_node(name.second); });
  feeds.subscribe<sync::Pod>(
      needs_, [this](const sync::Pod& pod) { scheduler_.set(pod); },
      [this](const ClusterFeeds::Name& name) { scheduler_.remove_pod(name.first, name.second); });
  feeds.subscribe<sync::Namespace>(
      needs_, [this](const sync::Namespace& space) { scheduler_.set(space); },
      [this](const ClusterFeeds::Name& name) { scheduler_.remove_namespace(name.second); });
  feeds.subscribe<sync::PodDisruptionBudget>(
      needs_, [this](const sync::PodDisruptionBudget& budget) { scheduler_.set(budget); },
      [this](const ClusterFeeds::Name& name) {
        scheduler_.remove_budget(name.first, name.second);
      });
}

void SchedulerDaemon::feeds_changed() {
  if (needs_.out_of_memory()) {
    scheduler_.pause();
  } else {
    maybe_begin();
  }
}

Status SchedulerDaemon::complete() const {
  if (needs_.out_of_memory()) {
    return fail(Errc::exhausted, "the scheduler's lists exceed --heap-max");
  }
  return needs_.complete();
}

}  // namespace holdfast::agent
