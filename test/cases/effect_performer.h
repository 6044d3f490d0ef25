// Performs the effects of the lifecycle rules on the simulated API server of a case, with the
// requests that upstream's controllers would send.

#pragma once

#include <string>
#include <vector>

#include "sync/lifecycle/effects.h"
#include "sync/lifecycle/options.h"
#include "test/cases/simulated_api_server.h"

namespace holdfast::cases {

class EffectPerformer {
 public:
  EffectPerformer(SimulatedApiServer& server, const sync::lifecycle::Options& options)
      : server_(server), options_(options) {}

  // Sets the wall time that the server uses in later requests.
  void set_wall(WallTime wall) { wall_ = wall; }

  // Performs an effect on one node or pod. An event is only appended to events().
  sync::lifecycle::Outcome perform(const sync::lifecycle::Effect& effect);

  // The server's current node, or nullopt. Does not count as a request.
  [[nodiscard]] std::optional<sync::lifecycle::NodeFacts> read_node(const std::string& name) const;

  [[nodiscard]] const std::vector<sync::lifecycle::RecordEvent>& events() const { return events_; }

 private:
  sync::lifecycle::Outcome update_status(const sync::lifecycle::UpdateNodeStatus& effect);
  sync::lifecycle::Outcome patch_taints(const sync::lifecycle::PatchTaints& effect);
  sync::lifecycle::Outcome patch_labels(const sync::lifecycle::PatchLabels& effect);
  sync::lifecycle::Outcome mark_not_ready(const sync::lifecycle::MarkPodNotReady& effect);
  sync::lifecycle::Outcome mark_lost(const sync::lifecycle::MarkPodLost& effect);
  sync::lifecycle::Outcome mark_disrupted(const sync::lifecycle::MarkPodDisrupted& effect);
  sync::lifecycle::Outcome remove(const sync::lifecycle::DeletePod& effect);

  std::optional<Errc> ask_pod(std::string_view verb, std::string_view subresource,
                              const sync::lifecycle::PodRef& pod);

  SimulatedApiServer& server_;
  sync::lifecycle::Options options_;
  WallTime wall_{};
  std::vector<sync::lifecycle::RecordEvent> events_;
};

}  // namespace holdfast::cases
