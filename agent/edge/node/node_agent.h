// Stands in for a kubelet with --runtime=process: registers the node, posts its status and carries
// the runtime's reports, all through the agent's own proxy, online and offline alike.
//
// For labs and tests. Threading: the loop's thread only.

#pragma once

#include "agent/edge/node/local_api.h"
#include "agent/edge/node/local_pods.h"
#include "agent/edge/node/node_status.h"
#include "agent/edge/options.h"
#include "agent/edge/runtime/process_runtime.h"

namespace holdfast::agent {

class NodeAgent final : public StatusSink {
 public:
  // Errors: invalid (labels), those of ProcessRuntime::open().
  [[nodiscard]] static Result<std::unique_ptr<NodeAgent>> make(asio::any_io_executor executor,
                                                               const EdgeOptions& options,
                                                               Scopes& scopes, LocalApi& api,
                                                               const Clock& clock);

  // Runs until stop(); pods run on.
  asio::awaitable<void> run_pods();
  // Runs until cancelled.
  asio::awaitable<void> post_status();
  void stop() { runtime_->stop(); }

  asio::awaitable<Status> report_status(sync::PodKey pod, std::string patch) override;
  asio::awaitable<Status> record_event(sync::Event event) override;
  asio::awaitable<Status> final_delete(sync::PodKey pod) override;

 private:
  NodeAgent(const EdgeOptions& options, Scopes& scopes, LocalApi& api, const Clock& clock,
            sync::Node node);
  asio::awaitable<Status> register_node();
  asio::awaitable<Status> post_once();

  const EdgeOptions& options_;
  LocalApi& api_;
  const Clock& clock_;
  sync::Node node_;
  LocalPods pods_;
  MonoTime posted_at_ = MonoTime::min();
  std::unique_ptr<ProcessRuntime> runtime_;
};

}  // namespace holdfast::agent
