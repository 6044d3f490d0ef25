// What follows when an attempt to schedule a pod has failed: back into the queue or not, what the
// pod's status and an event say, and what becomes of its nomination.

#pragma once

#include <optional>
#include <string>

#include "sync/schedule/actions.h"
#include "sync/schedule/fit_error.h"
#include "sync/schedule/queue/queue.h"

namespace holdfast::sync::schedule {

struct FailedAttempt {
  PodRef pod;                          // as it was when the attempt began
  FitStatus verdict;                   // not ok
  std::optional<Diagnosis> diagnosis;  // set for a fit error
  Nomination nomination;               // nothing: as the pod's own status says
};

struct FailurePlan {
  std::string reason;    // of the condition: Unschedulable, SchedulerError
  bool requeue = false;  // or the queue is told that the pod is done
  PodRef fresh;          // what goes back into the queue; null unless `requeue`
  PluginNames unschedulable;
  PluginNames pending;
  RecordEvent event;
  std::optional<PatchPodStatus> patch;  // nothing: the status says so already
};

// `live` is the pod as it is known now, or null when it is gone. The nominator is told.
[[nodiscard]] FailurePlan plan_failure(const FailedAttempt& attempt, const PodRef& live,
                                       Nominator& nominator, WallTime now);

// For a pod that was popped while it is being deleted.
[[nodiscard]] RecordEvent skip_event(const PodView& pod);
// For a pod that was bound.
[[nodiscard]] RecordEvent bound_event(const PodView& pod, const std::string& node);

}  // namespace holdfast::sync::schedule
