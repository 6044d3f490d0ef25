#include "sync/watch/cached_form.h"

#include <algorithm>
#include <array>
#include <vector>

#include "platform/check.h"
#include "sync/objects/protobuf.h"
#include "sync/objects/protobuf_write.h"
#include "sync/wire/frames.h"
#include "sync/wire/json_scan.h"
#include "sync/wire/list_bytes.h"
#include "sync/wire/object_header.h"
#include "sync/wire/protobuf/envelope.h"
#include "sync/wire/protobuf/frames.h"
#include "sync/wire/protobuf/header.h"
#include "sync/wire/protobuf/list.h"
#include "sync/wire/protobuf/status.h"
#include "sync/wire/status.h"

namespace holdfast::sync::watch {
namespace {

constexpr std::string_view end_annotation = "k8s.io/initial-events-end";

wire::WatchEvent::Type wire_type(EventType type) {
  switch (type) {
    case EventType::added:
      return wire::WatchEvent::Type::added;
    case EventType::modified:
      return wire::WatchEvent::Type::modified;
    case EventType::deleted:
      return wire::WatchEvent::Type::deleted;
  }
  UNREACHABLE();
}

std::string json_bookmark(const wire::ScopeKind& kind, objects::Version version,
                          bool end_of_initial_events) {
  std::string object = R"({"kind":")" + kind.kind + R"(","apiVersion":")" + kind.api_version +
                       R"(","metadata":{"resourceVersion":")" + std::to_string(version) +
                       R"(","creationTimestamp":null)";
  if (end_of_initial_events) {
    object += R"(,"annotations":{")" + std::string(end_annotation) + R"(":"true"})";
  }
  return object + "}}";
}

// Whether list items of this apiVersion have no kind and apiVersion: so it is for the API server's
// own types. Source: the groups that Kubernetes 1.36 itself installs.
bool has_bare_items(std::string_view api_version) {
  constexpr std::array<std::string_view, 18> groups = {"admissionregistration.k8s.io",
                                                       "apiextensions.k8s.io",
                                                       "apiregistration.k8s.io",
                                                       "authentication.k8s.io",
                                                       "authorization.k8s.io",
                                                       "certificates.k8s.io",
                                                       "coordination.k8s.io",
                                                       "discovery.k8s.io",
                                                       "events.k8s.io",
                                                       "flowcontrol.apiserver.k8s.io",
                                                       "internal.apiserver.k8s.io",
                                                       "networking.k8s.io",
                                                       "node.k8s.io",
                                                       "rbac.authorization.k8s.io",
                                                       "resource.k8s.io",
                                                       "scheduling.k8s.io",
                                                       "storage.k8s.io",
                                                       "storagemigration.k8s.io"};
  const std::size_t slash = api_version.find('/');
  if (slash == api_version.npos) return true;
  const std::string_view group = api_version.substr(0, slash);
  return group.find('.') == group.npos ||
         std::find(groups.begin(), groups.end(), group) != groups.end();
}

// The object's apiVersion; "" if it has none.
std::string api_version_of(std::string_view object) {
  std::string version;
  wire::JsonCursor in(object);
  for (wire::JsonFields field(in); field.next();) {
    if (field.key() == "apiVersion" && in.peek() == '"') {
      in.text(version);
    } else {
      in.skip();
    }
  }
  return in.ok() ? version : std::string();
}

}  // namespace

wire::Encoding encoding_of(std::string_view cached) {
  return wire::is_protobuf(cached) ? wire::Encoding::protobuf : wire::Encoding::json;
}

Result<std::string> cached_form(std::string object) {
  if (wire::is_protobuf(object) || !has_bare_items(api_version_of(object))) return object;
  return wire::as_item(object);
}

Result<std::string> in_encoding(const wire::ScopeKind& kind, std::string cached) {
  if (encoding_of(cached) == kind.encoding) return cached;
  if (kind.encoding == wire::Encoding::protobuf)
    return objects::to_protobuf(wire::standalone(cached, kind.kind, kind.api_version));
  TRY(const std::string json, objects::json_of_protobuf(cached));
  return wire::as_item(json);
}

std::string object_body(const wire::ScopeKind& kind, std::string_view cached) {
  if (kind.encoding == wire::Encoding::protobuf) return std::string(cached);
  return wire::standalone(cached, kind.kind, kind.api_version) + "\n";
}

std::string_view to_string(EventType type) { return wire::to_string(wire_type(type)); }

std::string event_frame(const wire::ScopeKind& kind, EventType type, std::string_view cached) {
  const wire::WatchEvent::Type wire = wire_type(type);
  if (kind.encoding == wire::Encoding::protobuf) return wire::encode_protobuf_event(wire, cached);
  return wire::encode_event(wire, wire::standalone(cached, kind.kind, kind.api_version));
}

std::string error_frame(const wire::ScopeKind& kind, std::string_view status_json) {
  if (kind.encoding == wire::Encoding::json)
    return wire::encode_event(wire::WatchEvent::Type::error, status_json);
  const auto status = wire::parse_status(status_json);
  CHECK(status);
  return wire::encode_protobuf_event(wire::WatchEvent::Type::error,
                                     wire::encode_protobuf_status(*status));
}

std::string bookmark_frame(const wire::ScopeKind& kind, objects::Version version,
                           bool end_of_initial_events) {
  if (kind.encoding == wire::Encoding::json) {
    return wire::encode_event(wire::WatchEvent::Type::bookmark,
                              json_bookmark(kind, version, end_of_initial_events));
  }
  const std::string_view annotation = end_of_initial_events ? end_annotation : "";
  const std::string raw = wire::protobuf_bookmark(std::to_string(version), annotation);
  return wire::encode_protobuf_event(wire::WatchEvent::Type::bookmark,
                                     wire::enveloped(kind.api_version, kind.kind, raw));
}

Result<std::string> with_version(std::string_view cached, objects::Version version) {
  const std::string text = std::to_string(version);
  if (wire::is_protobuf(cached)) return wire::protobuf_with_resource_version(cached, text);
  return wire::with_resource_version(cached, text);
}

Result<std::string> cached_json(const wire::ScopeKind& kind, std::string_view cached) {
  if (wire::is_protobuf(cached)) return objects::json_of_protobuf(cached);
  return wire::standalone(cached, kind.kind, kind.api_version);
}

Result<std::string> cached_json(const wire::ScopeKind& kind, const Body& cached) {
  TRY(const Bytes bytes, cached.load());
  return cached_json(kind, *bytes);
}

}  // namespace holdfast::sync::watch
