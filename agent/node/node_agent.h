// holdfast-node as one object: does what a kubelet does on a node, as a client of the API that the
// edge agent serves on the same machine.
//
//   ApiPodSource   what should run: the node's pods, their ConfigMaps and Secrets
//   PodWorkers     keeps these pods running, with a Runtime, and adopts those of an earlier run
//   ApiStatusSink  sends the pods' statuses, Events and deletions to the API (a StatusSink)
//   NodeReporter   registers the node and posts its status; LeaseRenewer renews its lease
//   KubeletApi     serves logs to the API server, if it is known who that is
//   Pressure       whether the node runs short of memory, disk or process ids
//
// Threading: the loop's thread only.

#pragma once

#include <functional>
#include <memory>
#include <string>

#include "agent/client/limited_client.h"
#include "agent/node/api_pod_source.h"
#include "agent/node/api_status_sink.h"
#include "agent/node/kubelet/kubelet_api.h"
#include "agent/node/lease_renewer.h"
#include "agent/node/node_reporter.h"
#include "agent/node/options.h"
#include "agent/node/pod_workers.h"
#include "platform/proc/service.h"

namespace holdfast::agent::node {

// The parts that a test replaces.
struct NodeAgentDependencies {
  // The state directory outlives the runtime. Empty: a ProcessRuntime.
  std::function<std::unique_ptr<Runtime>(asio::any_io_executor, const StateDir&)> make_runtime = {};
  std::unique_ptr<Pressure> pressure = {};  // null: NoPressure
};

class NodeAgent final : public proc::Service {
 public:
  // Opens the data directory and adopts the containers that still run; nothing is sent yet. `clock`
  // outlives it. Errors: invalid (labels, kubeconfig, server), conflict (another program uses the
  // data directory), and those of the file system.
  [[nodiscard]] static Result<std::unique_ptr<NodeAgent>> make(asio::any_io_executor executor,
                                                               const NodeOptions& options,
                                                               const Clock& clock,
                                                               NodeAgentDependencies parts = {});

  [[nodiscard]] Status start() override;
  // Ends all requests. The containers keep running.
  asio::awaitable<void> stop(MonoTime deadline) override;

  [[nodiscard]] const PodWorkers& workers() const { return workers_; }

 private:
  struct Opened {
    std::unique_ptr<StateDir> state;
    std::unique_ptr<Runtime> runtime;
    std::unique_ptr<Pressure> pressure;
    std::unique_ptr<KubeletApi> kubelet;
    std::unique_ptr<ApiClient> client;
    std::unique_ptr<ApiClient> heartbeat_client;
    sync::Node node;
  };
  NodeAgent(asio::any_io_executor executor, const NodeOptions& options, const Clock& clock,
            Opened opened);

  std::unique_ptr<StateDir> state_;
  std::unique_ptr<Runtime> runtime_;  // refers to *state_
  std::unique_ptr<Pressure> pressure_;
  std::unique_ptr<ApiClient> client_;
  // Heartbeats have connections of their own, without a limit of their rate, as a kubelet's have.
  std::unique_ptr<ApiClient> heartbeat_client_;
  AlwaysPermitted permit_;
  LimitedClient writer_;
  ApiPodSource pods_;
  ApiStatusSink reports_;
  PodWorkers workers_;
  NodeReporter reporter_;
  LeaseRenewer lease_;
  std::unique_ptr<KubeletApi> kubelet_;  // null: not served
  std::string node_name_;
  loop::Tasks tasks_;
};

}  // namespace holdfast::agent::node
