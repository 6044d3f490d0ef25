// ConfigMap, Secret, Event, Namespace, PriorityClass: small kinds without a life of their own.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sync/api/boxed.h"
#include "sync/api/meta_types.h"

namespace holdfast::sync {

struct ConfigMap {
  static constexpr std::string_view kind = "ConfigMap";
  static constexpr std::string_view api_version = "v1";

  ObjectMeta metadata;
  StringMap data;
  StringMap binary_data;  // the bytes themselves; base64 only on the wire
  std::optional<bool> immutable;
  Untouched untouched;

  bool operator==(const ConfigMap&) const = default;
};

struct Secret {
  static constexpr std::string_view kind = "Secret";
  static constexpr std::string_view api_version = "v1";

  ObjectMeta metadata;
  StringMap data;  // the bytes themselves; base64 only on the wire
  std::string type;
  std::optional<bool> immutable;
  Untouched untouched;

  bool operator==(const Secret&) const = default;
};

struct EventSource {
  std::string component;
  std::string host;
  Untouched untouched;

  bool operator==(const EventSource&) const = default;
};

struct Event {
  static constexpr std::string_view kind = "Event";
  static constexpr std::string_view api_version = "v1";

  ObjectMeta metadata;
  ObjectReference involved_object;
  std::string reason;
  std::string message;
  EventSource source;
  std::optional<WallTime> first_timestamp;
  std::optional<WallTime> last_timestamp;
  std::int32_t count = 0;
  std::string type;                    // Normal, Warning
  std::optional<WallTime> event_time;  // to the microsecond on the wire
  std::string action;
  Boxed<ObjectReference> related;
  std::string reporting_component;
  std::string reporting_instance;
  Untouched untouched;

  bool operator==(const Event&) const = default;
};

struct NamespaceSpec {
  std::vector<std::string> finalizers;
  Untouched untouched;

  bool operator==(const NamespaceSpec&) const = default;
};

struct NamespaceStatus {
  std::string phase;  // Active, Terminating
  Untouched untouched;

  bool operator==(const NamespaceStatus&) const = default;
};

struct Namespace {
  static constexpr std::string_view kind = "Namespace";
  static constexpr std::string_view api_version = "v1";

  ObjectMeta metadata;
  NamespaceSpec spec;
  NamespaceStatus status;
  Untouched untouched;

  bool operator==(const Namespace&) const = default;
};

struct PriorityClass {
  static constexpr std::string_view kind = "PriorityClass";
  static constexpr std::string_view api_version = "scheduling.k8s.io/v1";

  ObjectMeta metadata;
  std::int32_t value = 0;
  bool global_default = false;
  std::string preemption_policy;
  Untouched untouched;

  bool operator==(const PriorityClass&) const = default;
};

}  // namespace holdfast::sync
