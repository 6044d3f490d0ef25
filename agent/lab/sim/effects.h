// Performs the effects of the lifecycle controller at the modelled API server, as the API server
// would answer the requests of holdfast-cloud.

#pragma once

#include "agent/lab/sim/server.h"
#include "sync/lifecycle/effects.h"
#include "sync/lifecycle/options.h"

namespace holdfast::agent::lab::sim {

class EffectPerformer {
 public:
  // Whether budgets allow the eviction of this pod now.
  using MayEvict = std::function<bool(const sync::Pod& pod)>;

  EffectPerformer(Server& server, const sync::lifecycle::Options& options, MayEvict may_evict)
      : server_(server), options_(options), may_evict_(std::move(may_evict)) {}

  [[nodiscard]] sync::lifecycle::Outcome perform(const sync::lifecycle::Effect& effect);

 private:
  using Outcome = sync::lifecycle::Outcome;

  Outcome perform_one(const sync::lifecycle::UpdateNodeStatus& effect);
  Outcome perform_one(const sync::lifecycle::PatchTaints& effect);
  Outcome perform_one(const sync::lifecycle::PatchLabels& effect);
  Outcome perform_one(const sync::lifecycle::MarkPodNotReady& effect);
  Outcome perform_one(const sync::lifecycle::MarkPodLost& effect);
  Outcome perform_one(const sync::lifecycle::MarkPodDisrupted& effect);
  Outcome perform_one(const sync::lifecycle::DeletePod& effect);
  Outcome perform_one(const sync::lifecycle::EvictPod& effect);
  Outcome perform_one(const sync::lifecycle::FailPod& effect);
  Outcome perform_one(const sync::lifecycle::DetachVolumes& effect);
  Outcome perform_one(const sync::lifecycle::AskProvider& effect);
  Outcome perform_one(const sync::lifecycle::DeleteNode& effect);
  Outcome perform_one(const sync::lifecycle::BindPod& effect);
  Outcome perform_one(const sync::lifecycle::RecordEvent& effect);

  [[nodiscard]] Outcome with_node(int status, const std::string& node) const;

  Server& server_;
  const sync::lifecycle::Options& options_;
  MayEvict may_evict_;
};

}  // namespace holdfast::agent::lab::sim
