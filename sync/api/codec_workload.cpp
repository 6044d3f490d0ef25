#include "sync/api/codec_pod.h"

namespace holdfast::sync::codec {

template <class F, Is<ReplicaSetSpec> T>
void fields(F& f, T& t) {
  f("replicas", t.replicas);
  f("minReadySeconds", t.min_ready_seconds);
  f("selector", t.selector);
  f("template", t.pod_template);
  f.rest(t.untouched);
}

template <class F, Is<ReplicaSetStatus> T>
void fields(F& f, T& t) {
  f("replicas", t.replicas, always);
  f("fullyLabeledReplicas", t.fully_labeled_replicas);
  f("readyReplicas", t.ready_replicas);
  f("availableReplicas", t.available_replicas);
  f("observedGeneration", t.observed_generation);
  f.rest(t.untouched);
}

template <class F, Is<RollingUpdate> T>
void fields(F& f, T& t) {
  f("maxUnavailable", t.max_unavailable);
  f("maxSurge", t.max_surge);
  f.rest(t.untouched);
}

template <class F, Is<UpdateStrategy> T>
void fields(F& f, T& t) {
  f("type", t.type);
  f("rollingUpdate", t.rolling_update);
  f.rest(t.untouched);
}

template <class F, Is<DeploymentSpec> T>
void fields(F& f, T& t) {
  f("replicas", t.replicas);
  f("selector", t.selector);
  f("template", t.pod_template);
  f("strategy", t.strategy);
  f("minReadySeconds", t.min_ready_seconds);
  f("revisionHistoryLimit", t.revision_history_limit);
  f("paused", t.paused);
  f("progressDeadlineSeconds", t.progress_deadline_seconds);
  f.rest(t.untouched);
}

template <class F, Is<DeploymentCondition> T>
void fields(F& f, T& t) {
  f("type", t.type, always);
  f("status", t.status, always);
  f("lastUpdateTime", t.last_update_time, always);
  f("lastTransitionTime", t.last_transition_time, always);
  f("reason", t.reason);
  f("message", t.message);
  f.rest(t.untouched);
}

template <class F, Is<DeploymentStatus> T>
void fields(F& f, T& t) {
  f("observedGeneration", t.observed_generation);
  f("replicas", t.replicas);
  f("updatedReplicas", t.updated_replicas);
  f("readyReplicas", t.ready_replicas);
  f("availableReplicas", t.available_replicas);
  f("unavailableReplicas", t.unavailable_replicas);
  f("conditions", t.conditions);
  f.rest(t.untouched);
}

template <class F, Is<DaemonSetSpec> T>
void fields(F& f, T& t) {
  f("selector", t.selector);
  f("template", t.pod_template);
  f("updateStrategy", t.update_strategy);
  f("minReadySeconds", t.min_ready_seconds);
  f("revisionHistoryLimit", t.revision_history_limit);
  f.rest(t.untouched);
}

template <class F, Is<DaemonSetStatus> T>
void fields(F& f, T& t) {
  f("currentNumberScheduled", t.current_number_scheduled, always);
  f("numberMisscheduled", t.number_misscheduled, always);
  f("desiredNumberScheduled", t.desired_number_scheduled, always);
  f("numberReady", t.number_ready, always);
  f("observedGeneration", t.observed_generation);
  f("updatedNumberScheduled", t.updated_number_scheduled);
  f("numberAvailable", t.number_available);
  f("numberUnavailable", t.number_unavailable);
  f.rest(t.untouched);
}

template <class F, Is<PodDisruptionBudgetSpec> T>
void fields(F& f, T& t) {
  f("minAvailable", t.min_available);
  f("selector", t.selector);
  f("maxUnavailable", t.max_unavailable);
  f.rest(t.untouched);
}

template <class F, Is<PodDisruptionBudgetStatus> T>
void fields(F& f, T& t) {
  f("observedGeneration", t.observed_generation);
  f("disruptedPods", t.disrupted_pods);
  f("disruptionsAllowed", t.disruptions_allowed, always);
  f("currentHealthy", t.current_healthy, always);
  f("desiredHealthy", t.desired_healthy, always);
  f("expectedPods", t.expected_pods, always);
  f.rest(t.untouched);
}

// The kinds themselves all have metadata, spec and status.
template <class T>
concept Workload = std::same_as<T, ReplicaSet> || std::same_as<T, Deployment> ||
    std::same_as<T, DaemonSet> || std::same_as<T, PodDisruptionBudget>;

template <class F, class T>
requires Workload<std::remove_const_t<T>>
void fields(F& f, T& t) {
  f("metadata", t.metadata);
  f("spec", t.spec);
  f("status", t.status);
  f.rest(t.untouched);
}

}  // namespace holdfast::sync::codec

namespace holdfast::sync {

HOLDFAST_CODEC(ReplicaSet)
HOLDFAST_CODEC(Deployment)
HOLDFAST_CODEC(DaemonSet)
HOLDFAST_CODEC(PodDisruptionBudget)

}  // namespace holdfast::sync
