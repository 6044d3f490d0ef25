// Performs the actions of the lifecycle rules on an API server.
//
// A taint patch that conflicts is retried here on the node's current taints, because the decision
// stays the same. A status write that conflicts is not retried: the outcome has the current node,
// and the rules decide again. Before a node is marked Unknown its Lease is read from the API
// server, because the watch of the Leases may have stalled. Threading: the loop's thread only.

#pragma once

#include "agent/client/api_client.h"
#include "agent/cloud/event_sender.h"
#include "agent/cloud/provider.h"
#include "agent/cloud/writer.h"
#include "platform/random.h"
#include "sync/lifecycle/options.h"

namespace holdfast::agent {

class ApiWriter final : public ClusterWriter {
 public:
  // All but the executor are borrowed and outlive it. `provider` may be null: AskProvider then
  // fails with Errc::invalid.
  ApiWriter(asio::any_io_executor executor, ApiCaller& client,
            const sync::lifecycle::Options& options, const Clock& clock, Random& random,
            Provider* provider = nullptr)
      : client_(client),
        options_(options),
        clock_(clock),
        random_(random),
        provider_(provider),
        events_(std::move(executor), client, clock) {}

  // Retries events that could not be written, until cancelled.
  asio::awaitable<void> retry_events() { return events_.run(); }

  asio::awaitable<sync::lifecycle::Outcome> perform(sync::lifecycle::Action action) override;

 private:
  using Outcome = sync::lifecycle::Outcome;

  asio::awaitable<Result<std::string>> send(ApiRequest request);
  asio::awaitable<Result<sync::Node>> node(ApiRequest request);
  asio::awaitable<Result<std::optional<WallTime>>> renewal_of(std::string node);
  asio::awaitable<Outcome> update_status(sync::lifecycle::UpdateNodeStatus action);
  asio::awaitable<Outcome> patch_taints(sync::lifecycle::PatchTaints action);
  asio::awaitable<Result<sync::lifecycle::TaintsSeen>> read_taints(std::string name,
                                                                   std::string uid, bool live);
  asio::awaitable<Outcome> write(ApiRequest request, bool of_pod);
  asio::awaitable<Outcome> evict(sync::lifecycle::EvictPod action);
  asio::awaitable<Outcome> bind(sync::lifecycle::BindPod action);
  asio::awaitable<Outcome> detach(sync::lifecycle::DetachVolumes action);
  asio::awaitable<Outcome> ask_provider(sync::lifecycle::AskProvider action);
  asio::awaitable<Outcome> record(sync::lifecycle::RecordEvent event);

  ApiCaller& client_;
  const sync::lifecycle::Options& options_;
  const Clock& clock_;
  Random& random_;
  Provider* provider_;
  EventSender events_;
};

}  // namespace holdfast::agent
