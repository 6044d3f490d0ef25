#include "sync/schedule/failure.h"

#include "platform/check.h"
#include "sync/schedule/names.h"

namespace holdfast::sync::schedule {
namespace {

std::string full_name(const PodView& pod) { return pod.namespace_name() + "/" + pod.name(); }

PluginNames names(const std::set<std::string>& plugins) {
  return PluginNames(plugins.begin(), plugins.end());
}

std::optional<PatchPodStatus> status_patch(const FailedAttempt& attempt, const std::string& reason,
                                           const std::string& message, WallTime now) {
  const PodStatus& status = attempt.pod->pod->status;
  PodCondition wanted;
  wanted.type = condition_scheduled;
  wanted.status = "False";
  wanted.reason = reason;
  wanted.message = message;
  PatchPodStatus patch{key_of(*attempt.pod), changed_condition(status, wanted, now), {}, {}};
  if (patch.condition) patch.condition_order = condition_order(status, wanted.type);
  if (attempt.nomination && *attempt.nomination != status.nominated_node_name) {
    patch.nominated_node = attempt.nomination;
  }
  if (!patch.condition && !patch.nominated_node) return std::nullopt;
  return patch;
}

}  // namespace

FailurePlan plan_failure(const FailedAttempt& attempt, const PodRef& live, Nominator& nominator,
                         WallTime now) {
  CHECK(!attempt.fit_status.ok());
  FailurePlan plan;
  plan.reason = attempt.fit_status.rejected() ? "Unschedulable" : "SchedulerError";
  if (attempt.diagnosis) {
    plan.unschedulable = names(attempt.diagnosis->unschedulable_plugins);
    plan.pending = names(attempt.diagnosis->pending_plugins);
  }
  plan.requeue = live != nullptr && live->node().empty();
  if (plan.requeue) {
    plan.fresh = live;
    nominator.add(live, attempt.nomination);
  } else {
    nominator.remove(attempt.pod->uid());
  }
  const std::string message =
      attempt.diagnosis ? fit_error(*attempt.diagnosis) : attempt.fit_status.message();
  plan.event = {key_of(*attempt.pod), std::nullopt, "Warning",
                "FailedScheduling",   "Scheduling", event_note(message)};
  plan.patch = status_patch(attempt, plan.reason, message, now);
  return plan;
}

RecordEvent skip_event(const PodView& pod) {
  return {key_of(pod),        std::nullopt, "Warning",
          "FailedScheduling", "Scheduling", "skip schedule deleting pod: " + full_name(pod)};
}

RecordEvent bound_event(const PodView& pod, const std::string& node) {
  return {key_of(pod), std::nullopt,
          "Normal",    "Scheduled",
          "Binding",   event_note("Successfully assigned " + full_name(pod) + " to " + node)};
}

}  // namespace holdfast::sync::schedule
