#include "sync/events/pod_events.h"

#include "platform/text.h"
#include "sync/wire/json.h"

namespace holdfast::sync::events {
namespace {

std::string events_path(const schedule::RecordEvent& event) {
  return "/apis/events.k8s.io/v1/namespaces/" + percent_encode(event.regarding.namespace_name) +
         "/events";
}

json::object reference_to(const schedule::PodKey& pod) {
  return to_json(ObjectReference{
      .kind = "Pod", .namespace_name = pod.namespace_name, .name = pod.name, .uid = pod.uid});
}

std::string key_of(const schedule::RecordEvent& event) {
  std::string key = event.regarding.uid;
  for (const std::string* part : {&event.type, &event.reason, &event.action, &event.note}) {
    key += "|";
    key += *part;
  }
  if (event.related) key += "|" + event.related->uid;
  return key;
}

json::object series_of(int count, const std::string& time) {
  return {{"count", count}, {"lastObservedTime", time}};
}

}  // namespace

PodEvents::PodEvents(std::string controller, std::string instance, SeriesLimits limits)
    : controller_(std::move(controller)),
      instance_(std::move(instance)),
      limits_(limits),
      series_(limits.remembered) {}

std::optional<EventWrite> PodEvents::record(MonoTime now, WallTime wall,
                                            const schedule::RecordEvent& event) {
  std::string key = key_of(event);
  Series& series = series_.at(key);
  if (!series.name.empty() && now - series.last > limits_.quiet) series = {};
  const bool first = series.name.empty();
  if (first) {
    const auto nanos = static_cast<std::uint64_t>(wall.time_since_epoch().count());
    series.name = event_name(event.regarding.name, nanos + sequence_++);
  }
  ++series.count;
  series.last = now;
  const bool due = series.count <= 2 || now - series.written >= limits_.refresh;
  if (!due) return std::nullopt;
  series.written = now;
  const std::string time = format_rfc3339(wall, TimeDigits::micros);
  json::object body{
      {"kind", "Event"},
      {"apiVersion", "events.k8s.io/v1"},
      {"metadata", {{"name", series.name}, {"namespace", event.regarding.namespace_name}}},
      {"eventTime", time},
      {"reportingController", controller_},
      {"reportingInstance", instance_},
      {"action", event.action},
      {"reason", event.reason},
      {"regarding", reference_to(event.regarding)},
      {"note", event.note},
      {"type", event.type}};
  if (event.related) body["related"] = reference_to(*event.related);
  if (!first) body["series"] = series_of(series.count, time);
  EventRequest whole{.path = events_path(event), .body = wire::serialize(body)};
  if (first) return EventWrite{std::move(whole), std::nullopt, std::move(key)};
  const json::object change{{"series", series_of(series.count, time)}};
  EventRequest patch{.is_patch = true,
                     .path = events_path(event) + "/" + percent_encode(series.name),
                     .body = wire::serialize(change)};
  return EventWrite{std::move(patch), std::move(whole), std::move(key)};
}

}  // namespace holdfast::sync::events
