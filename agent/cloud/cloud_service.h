// The whole of holdfast-cloud as one object: clients, feeds, controllers, leader election and the
// pages that it serves.
//
// Of several replicas one acts. The others receive everything, so that they can take over at once,
// and write nothing. Threading: the loop's thread only.

#pragma once

#include <functional>
#include <memory>

#include "agent/client/api_client.h"
#include "agent/client/limited_client.h"
#include "agent/client/list_watch.h"
#include "agent/cloud/api_writer.h"
#include "agent/cloud/cloud_metrics.h"
#include "agent/cloud/cluster_feeds.h"
#include "agent/cloud/endpoints.h"
#include "agent/cloud/leader.h"
#include "agent/cloud/lifecycle_runner.h"
#include "agent/cloud/memory_limit.h"
#include "agent/cloud/missing_rights.h"
#include "agent/cloud/provider.h"
#include "agent/cloud/scheduler/scheduler_service.h"
#include "agent/cloud/settings.h"
#include "platform/loop/tasks.h"
#include "platform/proc/service.h"
#include "platform/random.h"
#include "sync/control/api_server_contact.h"

namespace holdfast::agent {

class CloudService final : public proc::Service, public ListWatchSource, public LifecyclePerformer {
 public:
  // `give_up`, if set, is called when the process must end; final_status() then has the reason.
  // `clock` is borrowed and outlives it. Errors: those of reading the kubeconfig and of plan_of().
  [[nodiscard]] static Result<std::unique_ptr<CloudService>> make(
      asio::any_io_executor executor, const CloudSettings& settings, const Clock& clock,
      std::function<void()> give_up = {});

  // Errors: those of Endpoints::listen().
  [[nodiscard]] Status start() override;
  // Waits for writes under way, then releases the lease.
  asio::awaitable<void> stop(MonoTime deadline) override;
  [[nodiscard]] Status final_status() const override { return final_status_; }

  [[nodiscard]] const sync::lifecycle::Controller& controller() const { return controller_; }
  [[nodiscard]] const LifecycleRunner& lifecycle() const { return lifecycle_; }
  [[nodiscard]] const Endpoints& endpoints() const { return endpoints_; }
  // Also true without leader election.
  [[nodiscard]] bool leads() const { return !leader_ || leader_->leads(); }
  // Null if the scheduler is not enabled.
  [[nodiscard]] const SchedulerService* scheduler() const { return scheduler_.get(); }

  // For the feeds and the runner. Answers to these requests count as contact.
  asio::awaitable<Result<http::Response>> send(ApiRequest request, bool streamed) override;
  asio::awaitable<sync::lifecycle::Outcome> perform(sync::lifecycle::Effect effect) override;

 private:
  struct Clients {
    std::unique_ptr<CloudMemory> memory;  // shared by all clients
    std::unique_ptr<ApiClient> rules;
    std::unique_ptr<ApiClient> election;
    std::unique_ptr<Provider> provider;  // null without --node-exists-url
  };
  [[nodiscard]] Status add_scheduler(asio::any_io_executor executor, const ClusterAccess& access);

  CloudService(asio::any_io_executor executor, const CloudSettings& settings, CloudPlan plan,
               Clients clients, const Clock& clock, std::function<void()> give_up);

  [[nodiscard]] Endpoints::Pages pages();
  [[nodiscard]] std::string metrics();
  void start_lifecycle();
  void subscribe_lifecycle();
  template <class T>
  void feed_lifecycle();
  [[nodiscard]] Status complete() const;
  // Whether all watches are alive.
  [[nodiscard]] Status progress() const;
  void requested(const LimitedClient::Observation& request);
  void feeds_changed();
  void note_answer();
  void note_failure();
  void start_if_ready();
  void end(const std::string& why);
  asio::awaitable<void> probe();

  CloudSettings settings_;
  CloudPlan plan_;
  Clients clients_;
  const Clock& clock_;
  std::function<void()> give_up_;
  Status final_status_;
  Random random_;
  sync::control::ApiServerContact contact_;
  loop::Event contact_changed_;
  sync::lifecycle::Controller controller_;
  CloudMetrics metrics_;
  MissingRights missing_rights_;
  AlwaysPermitted always_;
  std::unique_ptr<Leader> leader_;  // null: no election
  LimitedClient limited_;
  ApiWriter writer_;
  LifecycleRunner lifecycle_;
  ClusterFeeds feeds_;
  ClusterFeeds::Subscription needs_;  // of the lifecycle controller
  std::unique_ptr<SchedulerService> scheduler_;
  Endpoints endpoints_;
  loop::Tasks tasks_;
};

}  // namespace holdfast::agent
