#include "agent/cloud/event_book.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "platform/check.h"
#include "platform/text.h"
#include "sync/api/json.h"

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

std::string key_of(const RecordEvent& event) {
  return object_of(event) + "|" + event.reason + "|" + event.message;
}

// Events of nodes live in the namespace "default".
std::string namespace_of(const RecordEvent& event) {
  return event.about.namespace_name.empty() ? "default" : event.about.namespace_name;
}

std::string events_path(const RecordEvent& event) {
  return "/api/v1/namespaces/" + percent_encode(namespace_of(event)) + "/events";
}

std::string hex(std::uint64_t value) {
  std::array<char, 24> buffer{};
  const int length =
      std::snprintf(buffer.data(), buffer.size(), "%llx", static_cast<unsigned long long>(value));
  return {buffer.data(), static_cast<std::size_t>(length)};
}

json::object involved(const RecordEvent& event) {
  json::object object{{"kind", kind_of(event)}, {"apiVersion", "v1"}, {"name", event.about.name}};
  if (!event.about.namespace_name.empty()) object["namespace"] = event.about.namespace_name;
  if (!event.about.uid.empty()) object["uid"] = event.about.uid;
  return object;
}

ApiRequest create(const RecordEvent& event, const std::string& name, const std::string& time) {
  const json::object body{{"kind", "Event"},
                          {"apiVersion", "v1"},
                          {"metadata", {{"name", name}, {"namespace", namespace_of(event)}}},
                          {"involvedObject", involved(event)},
                          {"reason", event.reason},
                          {"message", event.message},
                          {"source", {{"component", component_of(event)}}},
                          {"firstTimestamp", time},
                          {"lastTimestamp", time},
                          {"count", 1},
                          {"type", event.warning ? "Warning" : "Normal"},
                          {"eventTime", nullptr},
                          {"reportingComponent", component_of(event)},
                          {"reportingInstance", ""}};
  return {
      .method = http::Method::post, .target = events_path(event), .body = sync::serialize(body)};
}

ApiRequest repeat(const RecordEvent& event, const std::string& name, int count,
                  const std::string& time) {
  const json::object body{{"count", count}, {"lastTimestamp", time}};
  return {.method = http::Method::patch,
          .target = events_path(event) + "/" + percent_encode(name),
          .body = sync::serialize(body),
          .content_type = "application/merge-patch+json"};
}

}  // namespace

std::optional<ApiRequest> EventBook::record(MonoTime now, WallTime wall, const RecordEvent& event) {
  if (!may_talk(now, object_of(event))) return std::nullopt;
  const std::string time = format_rfc3339(wall);
  const std::string key = key_of(event);
  const auto found = by_key_.find(key);
  if (found != by_key_.end()) {
    entries_.splice(entries_.begin(), entries_, found->second);
    Entry& entry = entries_.front();
    return repeat(event, entry.name, ++entry.count, time);
  }
  const auto nanos = static_cast<std::uint64_t>(wall.time_since_epoch().count());
  entries_.push_front({key, event.about.name + "." + hex(nanos + sequence_++), 1});
  by_key_.emplace(key, entries_.begin());
  if (entries_.size() > limits_.remembered) {
    by_key_.erase(entries_.back().key);
    entries_.pop_back();
  }
  return create(event, entries_.front().name, time);
}

void EventBook::forget(const RecordEvent& event) {
  const auto found = by_key_.find(key_of(event));
  if (found == by_key_.end()) return;
  entries_.erase(found->second);
  by_key_.erase(found);
}

bool EventBook::may_talk(MonoTime now, const std::string& object) {
  // Losing the memory lets everybody talk again; that is the cheaper mistake.
  if (talks_.size() > limits_.remembered) talks_.clear();
  Talk& talk = talks_.try_emplace(object, Talk{limits_.burst, now}).first->second;
  const double gained =
      std::chrono::duration<double>(now - talk.at) / std::chrono::duration<double>(limits_.refill);
  talk.tokens = std::min(limits_.burst, talk.tokens + gained);
  talk.at = now;
  if (talk.tokens < 1) return false;
  talk.tokens -= 1;
  return true;
}

}  // namespace holdfast::agent
