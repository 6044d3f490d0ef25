// Builds Event objects, and the requests that write them, as values that any client can send.

#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string>

#include "sync/model/json_alias.h"

namespace holdfast::sync::events {

// A request that creates or patches one Event.
struct EventRequest {
  bool is_patch = false;  // a strategic merge patch; otherwise a creation
  std::string path;
  std::string body;  // JSON

  bool operator==(const EventRequest&) const = default;
};

// The requests that write one occurrence.
struct EventWrite {
  EventRequest request;
  // To be sent if `request` is answered 404: the Event has expired and is created again.
  std::optional<EventRequest> instead;
  std::string key;  // for EventAggregator::forget()
};

// The object that an Event is about. Empty fields are left out.
struct ObjectReference {
  std::string kind;
  std::string namespace_name;
  std::string name;
  std::string uid;
  std::string api_version = "v1";
  std::string resource_version = {};
};

[[nodiscard]] json::object to_json(const ObjectReference& reference);

// An Event of the core API, v1. Times are RFC 3339.
struct CoreEvent {
  std::string name;
  std::string namespace_name;
  ObjectReference about;
  bool warning = false;  // its type is Warning; otherwise Normal
  std::string reason;
  std::string message;
  std::string component;  // of the program that reports it
  std::string first;      // time of the first occurrence
  std::string last;       // time of the last occurrence
  int count = 1;
};

[[nodiscard]] json::object to_json(const CoreEvent& event);

[[nodiscard]] EventRequest create_event(const CoreEvent& event);

// The change for a repeated occurrence: count, last time and message.
[[nodiscard]] EventRequest repeat_event(const CoreEvent& event);

// A name that no other Event has, as client-go makes it: the object's name and a number in hex.
[[nodiscard]] std::string event_name(const std::string& object, std::uint64_t number);

}  // namespace holdfast::sync::events
