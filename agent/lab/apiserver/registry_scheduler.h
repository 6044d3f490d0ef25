// The lab's own scheduler: applies the rules of sync/schedule directly to the registry. It places
// the pods whose schedulerName is "default-scheduler", with preemption.
// It ignores claims of pods, because the lab has no controller for volumes.
// It works inside the API server's process; agent/cloud/scheduler is the scheduler for any API
// server. A node that has not reported allocatable resources counts as 4 cores, 8 GiB and 110 pods.
// Threading: the loop's thread only.

#pragma once

#include <deque>
#include <string_view>

#include "agent/lab/apiserver/editor.h"
#include "platform/random.h"
#include "sync/schedule/attempt.h"
#include "sync/schedule/cluster_state.h"
#include "sync/schedule/failure.h"
#include "sync/schedule/preemption/preemption.h"
#include "sync/schedule/preemption/preparation.h"

namespace holdfast::agent::lab {

class RegistryScheduler {
 public:
  // `editor` and `clock` are borrowed and outlive it.
  RegistryScheduler(Editor& editor, const Clock& clock, Random random);

  // Call for every change of the registry. The change is applied in the next pass().
  void note(const Change& change);

  // Applies the noted changes and makes all scheduling attempts that are due.
  void pass();

 private:
  void read(const Stored& stored);
  void forget(const Stored& stored);
  void apply_changes();
  void attempt(const sync::schedule::Queue::Popped& popped);
  void give_up(const sync::schedule::PodRef& pod, sync::schedule::Attempt attempt);
  void prepare_candidate(const sync::schedule::PodRef& pod,
                         const sync::schedule::Candidate& chosen);
  [[nodiscard]] sync::schedule::Settled perform(const sync::schedule::Action& action);
  [[nodiscard]] Answer<StoredPtr> bind(const sync::schedule::PodView& pod, std::string_view node);
  [[nodiscard]] sync::schedule::Settled patch(const sync::schedule::PatchPodStatus& patch);
  void record_event(const sync::schedule::RecordEvent& event);

  Editor& editor_;
  const Clock& clock_;
  Random random_;
  sync::schedule::ClusterState cluster_state_;
  sync::schedule::Finder finder_;
  std::deque<Change> pending_changes_;
};

}  // namespace holdfast::agent::lab
