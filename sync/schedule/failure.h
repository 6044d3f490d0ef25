// What follows after an attempt to schedule a pod has failed: whether the pod returns to the queue,
// the patch of its status, the event, and the change of its nomination.

#pragma once

#include <optional>
#include <string>

#include "sync/schedule/actions.h"
#include "sync/schedule/fit_error.h"
#include "sync/schedule/queue/queue.h"

namespace holdfast::sync::schedule {

struct FailedAttempt {
  PodRef pod;                          // as it was when the attempt began
  FitStatus fit_status;                // not ok
  std::optional<Diagnosis> diagnosis;  // set for a fit error
  Nomination nomination;               // nullopt: the one in the pod's status
};

struct FailurePlan {
  std::string reason;    // of the condition: Unschedulable, SchedulerError
  bool requeue = false;  // false: call Queue::done() instead of Queue::requeue()
  PodRef fresh;          // the pod to requeue; null unless `requeue`
  PluginNames unschedulable;
  PluginNames pending;
  RecordEvent event;
  std::optional<PatchPodStatus> patch;  // nullopt: the status is up to date
};

// `live` is the pod as the API server has it now, or null if it does not exist. Updates the
// nominator.
[[nodiscard]] FailurePlan plan_failure(const FailedAttempt& attempt, const PodRef& live,
                                       Nominator& nominator, WallTime now);

// The event of a pod that is skipped because it is being deleted.
[[nodiscard]] RecordEvent skip_event(const PodView& pod);
// The event of a pod that was bound to `node`.
[[nodiscard]] RecordEvent bound_event(const PodView& pod, const std::string& node);

}  // namespace holdfast::sync::schedule
