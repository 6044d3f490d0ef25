// Performs the effects of the lifecycle controller on an API server.
//
// A taint patch that conflicts is retried here on the node's current taints, because the decision
// stays the same. A status write that conflicts is not retried: the outcome has the current node,
// and the rules decide again; after other failures they do so in their next pass. Before a node is
// marked Unknown its Lease is read from the API server, because the watch of the Leases may have
// stalled; before an effect that cannot be undone the Node is (lifecycle::condition_of()).
// Threading: the loop's thread only.

#pragma once

#include "agent/client/api_client.h"
#include "agent/cloud/event_sender.h"
#include "agent/cloud/lifecycle_runner.h"
#include "agent/cloud/provider.h"
#include "platform/random.h"
#include "sync/lifecycle/options.h"

namespace holdfast::agent {

class ApiWriter final : public LifecyclePerformer {
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

  asio::awaitable<sync::lifecycle::Outcome> perform(sync::lifecycle::Effect effect) override;

 private:
  using Outcome = sync::lifecycle::Outcome;

  asio::awaitable<Result<std::string>> send(ApiRequest request);
  asio::awaitable<Result<sync::Node>> node(ApiRequest request);
  asio::awaitable<Outcome> check(sync::lifecycle::NodeMustBe condition);
  asio::awaitable<Result<std::optional<WallTime>>> renewal_of(std::string node);
  asio::awaitable<Outcome> perform_one(sync::lifecycle::UpdateNodeStatus effect);
  asio::awaitable<Outcome> perform_one(sync::lifecycle::PatchTaints effect);
  asio::awaitable<Result<sync::lifecycle::TaintsSeen>> read_taints(std::string name,
                                                                   std::string uid, bool live);
  asio::awaitable<Outcome> write(ApiRequest request, bool of_pod);
  asio::awaitable<Outcome> perform_one(sync::lifecycle::EvictPod effect);
  asio::awaitable<Outcome> perform_one(sync::lifecycle::BindPod effect);
  asio::awaitable<Outcome> perform_one(sync::lifecycle::DetachVolumes effect);
  asio::awaitable<Outcome> perform_one(sync::lifecycle::AskProvider effect);
  asio::awaitable<Outcome> perform_one(sync::lifecycle::RecordEvent event);
  // Effects that are a single request.
  asio::awaitable<Outcome> perform_one(sync::lifecycle::PatchLabels effect);
  asio::awaitable<Outcome> perform_one(sync::lifecycle::MarkPodNotReady effect);
  asio::awaitable<Outcome> perform_one(sync::lifecycle::MarkPodLost effect);
  asio::awaitable<Outcome> perform_one(sync::lifecycle::MarkPodDisrupted effect);
  asio::awaitable<Outcome> perform_one(sync::lifecycle::FailPod effect);
  asio::awaitable<Outcome> perform_one(sync::lifecycle::DeletePod effect);
  asio::awaitable<Outcome> perform_one(sync::lifecycle::DeleteNode effect);

  ApiCaller& client_;
  const sync::lifecycle::Options& options_;
  const Clock& clock_;
  Random& random_;
  Provider* provider_;
  EventSender events_;
};

}  // namespace holdfast::agent
