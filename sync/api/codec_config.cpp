#include "sync/api/codec_meta.h"

namespace holdfast::sync::codec {

template <class F, Is<ConfigMap> T>
void fields(F& f, T& t) {
  f("metadata", t.metadata);
  f("immutable", t.immutable);
  f("data", t.data);
  f.base64("binaryData", t.binary_data);
  f.rest(t.untouched);
}

template <class F, Is<Secret> T>
void fields(F& f, T& t) {
  f("metadata", t.metadata);
  f("immutable", t.immutable);
  f.base64("data", t.data);
  f("type", t.type);
  f.rest(t.untouched);
}

template <class F, Is<EventSource> T>
void fields(F& f, T& t) {
  f("component", t.component);
  f("host", t.host);
  f.rest(t.untouched);
}

template <class F, Is<Event> T>
void fields(F& f, T& t) {
  f("metadata", t.metadata);
  f("involvedObject", t.involved_object);
  f("reason", t.reason);
  f("message", t.message);
  f("source", t.source);
  f("firstTimestamp", t.first_timestamp, always);
  f("lastTimestamp", t.last_timestamp, always);
  f("count", t.count);
  f("type", t.type);
  f.micros("eventTime", t.event_time, always);
  f("action", t.action);
  f("related", t.related);
  f("reportingComponent", t.reporting_component, always);
  f("reportingInstance", t.reporting_instance, always);
  f.rest(t.untouched);
}

template <class F, Is<NamespaceSpec> T>
void fields(F& f, T& t) {
  f("finalizers", t.finalizers);
  f.rest(t.untouched);
}

template <class F, Is<NamespaceStatus> T>
void fields(F& f, T& t) {
  f("phase", t.phase);
  f.rest(t.untouched);
}

template <class F, Is<Namespace> T>
void fields(F& f, T& t) {
  f("metadata", t.metadata);
  f("spec", t.spec);
  f("status", t.status);
  f.rest(t.untouched);
}

template <class F, Is<PriorityClass> T>
void fields(F& f, T& t) {
  f("metadata", t.metadata);
  f("value", t.value, always);
  f("globalDefault", t.global_default);
  f("preemptionPolicy", t.preemption_policy);
  f.rest(t.untouched);
}

}  // namespace holdfast::sync::codec

namespace holdfast::sync {

HOLDFAST_CODEC(ConfigMap)
HOLDFAST_CODEC(Secret)
HOLDFAST_CODEC(Event)
HOLDFAST_CODEC(Namespace)
HOLDFAST_CODEC(PriorityClass)

Result<LabelSelector> decode_label_selector(const json::value& value) {
  const json::object* object = value.if_object();
  if (object == nullptr) return fail(Errc::invalid, "selector: expected an object");
  codec::ReadContext context;
  LabelSelector selector;
  codec::Reader reader(*object, nullptr, context);
  codec::fields(reader, selector);
  if (!context.error.empty()) return fail(Errc::invalid, "selector: " + context.error);
  return selector;
}

}  // namespace holdfast::sync
