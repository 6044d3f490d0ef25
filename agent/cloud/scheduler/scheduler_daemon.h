// The scheduler of holdfast-cloud as a whole: its client, its feeds, its leader election.
//
// It shares nothing with the lifecycle controller beside it but the process: each has its Lease and
// may lead in another replica. Threading: the loop's thread only.

#pragma once

#include <functional>
#include <memory>
#include <string>

#include "agent/client/api_client.h"
#include "agent/client/limited_client.h"
#include "agent/client/list_watch.h"
#include "agent/cloud/leader.h"
#include "agent/cloud/scheduler/scheduler_feeds.h"
#include "platform/loop/tasks.h"

namespace holdfast::agent {

class SchedulerDaemon final : private ListWatchSource {
 public:
  struct Settings {
    SchedulerPlan plan;
    LeaderSettings leader;  // with the name of its own Lease
    RequestLimits requests;
    bool protobuf = true;
  };
  struct Hooks {
    std::function<void(const std::string& why)> lost;  // it led, and does not any more
    LimitedClient::Observer requested;
    std::function<void(std::string_view kind)> skipped;
  };

  // `memory`, `clock` and what the hooks refer to outlive it. Errors: invalid (certificates).
  [[nodiscard]] static Result<std::unique_ptr<SchedulerDaemon>> make(
      asio::any_io_executor executor, Settings settings, const ClusterAccess& access,
      CloudMemory& memory, const Clock& clock, Hooks hooks);

  void start();
  // Nothing is decided any more.
  void pause();
  // Lets writes under way end, then gives the lease back; each takes at most so long.
  asio::awaitable<void> stop(MonoTime deadline, Duration patience);

  [[nodiscard]] bool leads() const { return !leader_ || leader_->leads(); }
  // Its name; empty: no election.
  [[nodiscard]] std::string election() const {
    return leader_ ? settings_.leader.resource_name : "";
  }
  [[nodiscard]] Status health() const { return leader_ ? leader_->health() : Status(); }
  [[nodiscard]] Status complete() const { return feeds_.complete(); }
  [[nodiscard]] const Scheduler& scheduler() const { return scheduler_; }
  [[nodiscard]] std::string metrics() { return scheduler_.metrics(); }

 private:
  struct Always final : WritePermit {
    asio::awaitable<MonoTime> wait() override { co_return MonoTime::max(); }
  };
  struct Clients {
    std::unique_ptr<ApiClient> rules;
    std::unique_ptr<ApiClient> election;
  };

  SchedulerDaemon(asio::any_io_executor executor, Settings settings, Clients clients,
                  Extenders extenders, CloudMemory& memory, const Clock& clock, Hooks hooks);

  void maybe_begin();
  void lost(const std::string& why);
  asio::awaitable<Result<http::Response>> send(ApiRequest request, bool streamed) override;

  Settings settings_;
  Clients clients_;
  Hooks hooks_;
  Random random_;
  bool ended_ = false;
  Always always_;
  std::unique_ptr<Leader> leader_;  // null: no election
  LimitedClient limited_;
  Scheduler scheduler_;
  SchedulerFeeds feeds_;
  const Clock& clock_;
  loop::Tasks tasks_;
};

}  // namespace holdfast::agent
