#include "sync/events/event_aggregator.h"

#include "platform/check.h"

namespace holdfast::sync::events {
namespace {

std::string_view component_of(const lifecycle::RecordEvent& event) {
  switch (event.source) {
    case lifecycle::EventSource::lifecycle:
      return "node-controller";
    case lifecycle::EventSource::taint_eviction:
      return "taint-eviction-controller";
    case lifecycle::EventSource::provider:
      return "cloud-node-lifecycle-controller";
  }
  UNREACHABLE();
}

std::string_view kind_of(const lifecycle::RecordEvent& event) {
  return event.kind == lifecycle::EventKind::node ? "Node" : "Pod";
}

std::string object_of(const lifecycle::RecordEvent& event) {
  return std::string(component_of(event)) + "|" + std::string(kind_of(event)) + "|" +
         event.about.key() + "|" + event.about.uid;
}

// Events are similar if they have this key in common: everything but the message.
std::string similar_of(const lifecycle::RecordEvent& event) {
  return object_of(event) + "|" + (event.warning ? "Warning" : "Normal") + "|" + event.reason;
}

// Events of nodes live in the namespace "default".
std::string namespace_of(const lifecycle::RecordEvent& event) {
  return event.about.namespace_name.empty() ? "default" : event.about.namespace_name;
}

ObjectReference reference(const lifecycle::RecordEvent& event) {
  return {.kind = std::string(kind_of(event)),
          .namespace_name = event.about.namespace_name,
          .name = event.about.name,
          .uid = event.about.uid};
}

}  // namespace

EventAggregator::EventAggregator(EventLimits limits)
    : limits_(limits),
      similar_(limits.remembered),
      seen_(limits.remembered),
      buckets_(limits.remembered) {}

std::optional<EventWrite> EventAggregator::record(MonoTime now, WallTime wall,
                                                  const lifecycle::RecordEvent& event) {
  std::string key = similar_of(event);
  CoreEvent made{.namespace_name = namespace_of(event),
                 .about = reference(event),
                 .warning = event.warning,
                 .reason = event.reason,
                 .message = event.message,
                 .component = std::string(component_of(event)),
                 .last = format_rfc3339(wall)};
  if (is_combined(now, key, event.message)) {
    made.message = "(combined from similar events): " + event.message;
  } else {
    key += "|" + event.message;
  }
  // As in client-go, an event counts even if the rate limit holds it back: the next patch has the
  // total.
  Seen& seen = seen_.at(key);
  const bool repeated = seen.count > 0;
  if (!repeated) {
    const auto nanos = static_cast<std::uint64_t>(wall.time_since_epoch().count());
    seen.name = event_name(event.about.name, nanos + sequence_++);
    seen.first = made.last;
  }
  made.name = seen.name;
  made.first = seen.first;
  made.count = ++seen.count;
  if (!may_write(now, object_of(event))) return std::nullopt;
  if (!repeated) return EventWrite{create_event(made), std::nullopt, std::move(key)};
  return EventWrite{repeat_event(made), create_event(made), std::move(key)};
}

bool EventAggregator::is_combined(MonoTime now, const std::string& kind,
                                  const std::string& message) {
  Similar& similar = similar_.at(kind);
  if (now - similar.last > limits_.similar_interval) similar.messages.clear();
  similar.last = now;
  similar.messages.insert(message);
  if (similar.messages.size() < limits_.similar) return false;
  // As client-go does, drops any one message, so that the set stays at its limit.
  similar.messages.erase(similar.messages.begin());
  return true;
}

bool EventAggregator::may_write(MonoTime now, const std::string& object) {
  std::optional<TokenBucket>& bucket = buckets_.at(object);
  if (!bucket) {
    const double rate = 1 / std::chrono::duration<double>(limits_.refill).count();
    bucket.emplace(now, rate, BucketOptions{.capacity = limits_.burst});
  }
  return bucket->take(now);
}

}  // namespace holdfast::sync::events
