#include "sync/protobuf/pod_fields.h"
#include "sync/protobuf/wire/workload.pb.h"

namespace holdfast::sync::proto {

template <class F>
void fields(F& f, const wire::PodTemplateSpec& m, PodTemplate& t) {
  f(1, "metadata", m.metadata(), t.metadata);
  f(2, "spec", m.spec(), t.spec);
}

template <class F>
void fields(F& f, const wire::RollingUpdateDaemonSet& m, RollingUpdate& t) {
  f(1, "maxUnavailable", m.has_max_unavailable(), m.max_unavailable(), t.max_unavailable);
  f(2, "maxSurge", m.has_max_surge(), m.max_surge(), t.max_surge);
}

template <class F>
void fields(F& f, const wire::DaemonSetUpdateStrategy& m, UpdateStrategy& t) {
  f(1, "type", m.type(), t.type);
  f(2, "rollingUpdate", m.has_rolling_update(), m.rolling_update(), t.rolling_update);
}

template <class F>
void fields(F& f, const wire::DaemonSetSpec& m, DaemonSetSpec& t) {
  f(1, "selector", m.selector(), t.selector);
  f(2, "template", m.template_(), t.pod_template);
  f(3, "updateStrategy", m.update_strategy(), t.update_strategy);
  f(4, "minReadySeconds", m.min_ready_seconds(), t.min_ready_seconds);
  f(6, "revisionHistoryLimit", m.has_revision_history_limit(), m.revision_history_limit(),
    t.revision_history_limit);
}

template <class F>
void fields(F& f, const wire::DaemonSetStatus& m, DaemonSetStatus& t) {
  f(1, "currentNumberScheduled", m.current_number_scheduled(), t.current_number_scheduled);
  f(2, "numberMisscheduled", m.number_misscheduled(), t.number_misscheduled);
  f(3, "desiredNumberScheduled", m.desired_number_scheduled(), t.desired_number_scheduled);
  f(4, "numberReady", m.number_ready(), t.number_ready);
  f(5, "observedGeneration", m.observed_generation(), t.observed_generation);
  f(6, "updatedNumberScheduled", m.updated_number_scheduled(), t.updated_number_scheduled);
  f(7, "numberAvailable", m.number_available(), t.number_available);
  f(8, "numberUnavailable", m.number_unavailable(), t.number_unavailable);
}

template <class F>
void fields(F& f, const wire::DaemonSet& m, DaemonSet& t) {
  f(1, "metadata", m.metadata(), t.metadata);
  f(2, "spec", m.spec(), t.spec);
  f(3, "status", m.status(), t.status);
}

}  // namespace holdfast::sync::proto

namespace holdfast::sync {

template <>
Result<DaemonSet> decode_protobuf<DaemonSet>(std::string_view bytes) {
  return proto::read_message<wire::DaemonSet, DaemonSet>(bytes);
}

}  // namespace holdfast::sync
