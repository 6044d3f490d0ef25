#include "sync/events/event.h"

#include "platform/text.h"
#include "sync/wire/json.h"

namespace holdfast::sync::events {
namespace {

std::string events_path(const CoreEvent& event) {
  return "/api/v1/namespaces/" + percent_encode(event.namespace_name) + "/events";
}

}  // namespace

json::object to_json(const ObjectReference& reference) {
  json::object made;
  const auto add = [&made](std::string_view key, const std::string& value) {
    if (!value.empty()) made[key] = value;
  };
  add("kind", reference.kind);
  add("namespace", reference.namespace_name);
  add("name", reference.name);
  add("uid", reference.uid);
  add("apiVersion", reference.api_version);
  add("resourceVersion", reference.resource_version);
  return made;
}

json::object to_json(const CoreEvent& event) {
  return {{"kind", "Event"},
          {"apiVersion", "v1"},
          {"metadata", {{"name", event.name}, {"namespace", event.namespace_name}}},
          {"involvedObject", to_json(event.about)},
          {"reason", event.reason},
          {"message", event.message},
          {"source", {{"component", event.component}}},
          {"firstTimestamp", event.first},
          {"lastTimestamp", event.last},
          {"count", event.count},
          {"type", event.warning ? "Warning" : "Normal"},
          {"eventTime", nullptr},
          {"reportingComponent", event.component},
          {"reportingInstance", ""}};
}

EventRequest create_event(const CoreEvent& event) {
  return {.path = events_path(event), .body = wire::serialize(to_json(event))};
}

EventRequest repeat_event(const CoreEvent& event) {
  const json::object change{
      {"count", event.count}, {"lastTimestamp", event.last}, {"message", event.message}};
  return {.is_patch = true,
          .path = events_path(event) + "/" + percent_encode(event.name),
          .body = wire::serialize(change)};
}

std::string event_name(const std::string& object, std::uint64_t number) {
  return object + "." + to_hex(number);
}

}  // namespace holdfast::sync::events
