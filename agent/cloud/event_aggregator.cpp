#include "agent/cloud/event_aggregator.h"

#include <algorithm>

#include "platform/check.h"
#include "platform/text.h"
#include "sync/wire/json.h"

namespace holdfast::agent {

namespace json = boost::json;
namespace lifecycle = sync::lifecycle;
using lifecycle::RecordEvent;

namespace {

std::string_view component_of(const RecordEvent& event) {
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

std::string_view kind_of(const RecordEvent& event) {
  return event.kind == lifecycle::EventKind::node ? "Node" : "Pod";
}

std::string object_of(const RecordEvent& event) {
  return std::string(component_of(event)) + "|" + std::string(kind_of(event)) + "|" +
         event.about.key() + "|" + event.about.uid;
}

// Events are similar if they have this key in common: everything but the message.
std::string similar_of(const RecordEvent& event) {
  return object_of(event) + "|" + (event.warning ? "Warning" : "Normal") + "|" + event.reason;
}

// Events of nodes live in the namespace "default".
std::string namespace_of(const RecordEvent& event) {
  return event.about.namespace_name.empty() ? "default" : event.about.namespace_name;
}

std::string events_path(const RecordEvent& event) {
  return "/api/v1/namespaces/" + percent_encode(namespace_of(event)) + "/events";
}

json::object involved(const RecordEvent& event) {
  json::object object{{"kind", kind_of(event)}, {"apiVersion", "v1"}, {"name", event.about.name}};
  if (!event.about.namespace_name.empty()) object["namespace"] = event.about.namespace_name;
  if (!event.about.uid.empty()) object["uid"] = event.about.uid;
  return object;
}

struct Facts {
  std::string name;
  std::string message;
  std::string first;
  std::string last;
  int count = 1;
};

ApiRequest create(const RecordEvent& event, const Facts& facts) {
  const json::object body{{"kind", "Event"},
                          {"apiVersion", "v1"},
                          {"metadata", {{"name", facts.name}, {"namespace", namespace_of(event)}}},
                          {"involvedObject", involved(event)},
                          {"reason", event.reason},
                          {"message", facts.message},
                          {"source", {{"component", component_of(event)}}},
                          {"firstTimestamp", facts.first},
                          {"lastTimestamp", facts.last},
                          {"count", facts.count},
                          {"type", event.warning ? "Warning" : "Normal"},
                          {"eventTime", nullptr},
                          {"reportingComponent", component_of(event)},
                          {"reportingInstance", ""}};
  return {.method = http::Method::post,
          .target = events_path(event),
          .body = sync::wire::serialize(body)};
}

ApiRequest repeat(const RecordEvent& event, const Facts& facts) {
  const json::object body{
      {"count", facts.count}, {"lastTimestamp", facts.last}, {"message", facts.message}};
  return {.method = http::Method::patch,
          .target = events_path(event) + "/" + percent_encode(facts.name),
          .body = sync::wire::serialize(body),
          .content_type = "application/strategic-merge-patch+json"};
}

}  // namespace

EventAggregator::EventAggregator(EventLimits limits)
    : limits_(limits),
      similar_(limits.remembered),
      seen_(limits.remembered),
      talks_(limits.remembered) {}

std::optional<EventWrite> EventAggregator::record(MonoTime now, WallTime wall,
                                                  const RecordEvent& event) {
  std::string key = similar_of(event);
  Facts facts{.message = event.message, .last = format_rfc3339(wall)};
  if (is_combined(now, key, event.message)) {
    facts.message = "(combined from similar events): " + event.message;
  } else {
    key += "|" + event.message;
  }
  // As in client-go, an event counts even if the rate limit holds it back: the next patch has the
  // total.
  Seen& seen = seen_.at(key);
  const bool repeated = seen.count > 0;
  if (!repeated) {
    const auto nanos = static_cast<std::uint64_t>(wall.time_since_epoch().count());
    seen.name = event.about.name + "." + to_hex(nanos + sequence_++);
    seen.first = facts.last;
  }
  facts.name = seen.name;
  facts.first = seen.first;
  facts.count = ++seen.count;
  if (!may_talk(now, object_of(event))) return std::nullopt;
  ApiRequest made = create(event, facts);
  if (!repeated) return EventWrite{std::move(made), std::nullopt, std::move(key)};
  return EventWrite{repeat(event, facts), std::move(made), std::move(key)};
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

bool EventAggregator::may_talk(MonoTime now, const std::string& object) {
  Talk& talk = talks_.at(object);
  if (talk.at == MonoTime::min()) talk = {limits_.burst, now};
  const double gained =
      std::chrono::duration<double>(now - talk.at) / std::chrono::duration<double>(limits_.refill);
  talk.tokens = std::min(limits_.burst, talk.tokens + gained);
  talk.at = now;
  if (talk.tokens < 1) return false;
  // A bucket starts full and gains one token per `refill`.
  talk.tokens -= 1;
  return true;
}

}  // namespace holdfast::agent
