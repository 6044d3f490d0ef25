// holdfast-cloud as a whole: the client, the feeds, the Cloud between them, start and stop.
//
// Threading: the loop's thread only.

#pragma once

#include <memory>

#include "agent/client/api_client.h"
#include "agent/client/list_watch.h"
#include "agent/cloud/api_writer.h"
#include "agent/cloud/cloud.h"
#include "agent/cloud/feed.h"
#include "agent/cloud/hearing.h"
#include "agent/cloud/provider.h"
#include "agent/cloud/settings.h"
#include "platform/loop/tasks.h"
#include "platform/random.h"

namespace holdfast::agent {

class Daemon final : public ListWatchSource, public ClusterWriter {
 public:
  // Errors: those of reading the kubeconfig and of plan_of(). `clock` outlives it.
  [[nodiscard]] static Result<std::unique_ptr<Daemon>> make(asio::any_io_executor executor,
                                                            const CloudSettings& settings,
                                                            const Clock& clock);

  void start();
  asio::awaitable<void> stop(MonoTime deadline);

  [[nodiscard]] const Cloud& cloud() const { return cloud_; }

  // For the feeds and the Cloud: the client, with an ear for whether it is answered.
  asio::awaitable<Result<http::Response>> send(ApiRequest request, bool streamed) override;
  asio::awaitable<sync::lifecycle::Outcome> perform(sync::lifecycle::Action action) override;

 private:
  Daemon(asio::any_io_executor executor, CloudPlan plan, std::unique_ptr<ApiClient> client,
         std::unique_ptr<Provider> provider, WorkLimits limits, const Clock& clock);

  void heard();
  void failed();
  void begin_when_complete();
  void watch(std::string path, ListWatchSink& sink);
  asio::awaitable<void> list_watch(std::string path, ListWatchSink& sink);
  asio::awaitable<void> listen();

  CloudPlan plan_;
  std::unique_ptr<ApiClient> client_;
  std::unique_ptr<Provider> provider_;  // null: nobody is asked
  const Clock& clock_;
  Random random_;
  Hearing hearing_;
  loop::Event hearing_changed_;
  ApiWriter writer_;
  Cloud cloud_;
  Feed<sync::Node> nodes_;
  Feed<sync::Pod> pods_;
  Feed<sync::Lease> leases_;
  Feed<sync::DaemonSet> daemon_sets_;
  loop::Tasks tasks_;
};

}  // namespace holdfast::agent
