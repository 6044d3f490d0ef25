// The whole scheduler of holdfast-cloud: its machine, its clients and its leader election.
//
// It shares the feeds of the process with the lifecycle controller. Each of the two has its own
// Lease, so another replica may lead for each. Threading: the loop's thread only.

#pragma once

#include <functional>
#include <memory>
#include <string>

#include "agent/client/api_client.h"
#include "agent/client/limited_client.h"
#include "agent/cloud/cluster_feeds.h"
#include "agent/cloud/leader.h"
#include "agent/cloud/scheduler/scheduler_metrics.h"
#include "agent/cloud/scheduler/scheduler_observer.h"
#include "platform/loop/tasks.h"
#include "platform/loop/workers.h"

namespace holdfast::agent {

class SchedulerService {
 public:
  struct Settings {
    SchedulerPlan plan;
    LeaderSettings leader;  // with the name of the scheduler's own Lease
    RequestLimits requests;
  };
  struct Hooks {
    std::function<void(const std::string& why)> end;  // the process must end
    LimitedClient::Observer requested;
  };

  // `memory`, `clock` and what the hooks refer to outlive it. Errors: invalid (certificates).
  [[nodiscard]] static Result<std::unique_ptr<SchedulerService>> make(
      asio::any_io_executor executor, Settings settings, const ClusterAccess& access,
      CloudMemory& memory, const Clock& clock, Hooks hooks);

  // Subscribes to the kinds that the scheduler needs. Call it before the feeds start.
  void subscribe(ClusterFeeds& feeds);
  // To be called when a feed received something, or a list exceeded the memory limit.
  void feeds_changed();

  void start();
  // Ends scheduling for good.
  void pause();
  // Waits for writes under way, then releases the lease; each takes at most `patience`.
  asio::awaitable<void> stop(MonoTime deadline, Duration patience);

  [[nodiscard]] bool leads() const { return !leader_ || leader_->leads(); }
  // The name of its Lease; empty without leader election.
  [[nodiscard]] std::string election() const {
    return leader_ ? settings_.leader.resource_name : "";
  }
  [[nodiscard]] Status health() const { return leader_ ? leader_->health() : Status(); }
  // Errors: unavailable (a list was never received completely; it is named), exhausted (a list
  // exceeds the memory limit).
  [[nodiscard]] Status complete() const;
  // Whether its watches are alive. Errors: unavailable, as ClusterFeeds::Subscription::progress().
  [[nodiscard]] Status progress() const;
  // Whether it makes scheduling attempts.
  [[nodiscard]] bool acts() const { return runner_.has_started() && !runner_.is_paused(); }
  [[nodiscard]] const sync::schedule::Scheduler& machine() const { return machine_; }
  [[nodiscard]] std::string metrics() { return metrics_.text(machine_.state()); }

 private:
  struct Clients {
    std::unique_ptr<ApiClient> rules;
    std::unique_ptr<ApiClient> election;
  };

  SchedulerService(asio::any_io_executor executor, Settings settings, Clients clients,
                   Extenders extenders, const Clock& clock, Hooks hooks);

  void start_if_ready();
  void end(const std::string& why);
  template <class T>
  void feed(ClusterFeeds& feeds, ClusterFeeds::Subscription& needs);
  // Passes on whether all claims, volumes, storage classes and CSI nodes are known.
  void note_storage();

  Settings settings_;
  Clients clients_;
  Hooks hooks_;
  Random random_;
  bool ended_ = false;
  AlwaysPermitted always_;
  std::unique_ptr<Leader> leader_;  // null: no election
  LimitedClient limited_;
  loop::Workers workers_;
  sync::schedule::Scheduler machine_;
  SchedulerMetrics metrics_;
  SchedulerObserver observer_;
  SchedulerPerformer performer_;
  SchedulerRunner runner_;
  ClusterFeeds::Subscription needs_;
  ClusterFeeds::Subscription storage_;  // only pods with claims need it
  std::string storage_missing_ = "nothing was received yet";
  const Clock& clock_;
  loop::Tasks tasks_;
};

}  // namespace holdfast::agent
