#include "sync/autonomy/local_write.h"

#include <algorithm>

#include "platform/check.h"
#include "platform/text.h"
#include "sync/autonomy/owned_status.h"
#include "sync/autonomy/reboot.h"
#include "sync/objects/patch/patch.h"
#include "sync/objects/protobuf.h"
#include "sync/wire/json.h"
#include "sync/wire/protobuf/envelope.h"
#include "sync/wire/protobuf/header.h"
#include "sync/wire/read.h"

namespace holdfast::sync::autonomy {
namespace {

constexpr std::string_view local_uid_prefix = "10ca1000-";
constexpr std::string_view mirror_annotation = "kubernetes.io/config.mirror";

LocalOutcome refuse(wire::ApiStatus status) { return {.refusal = std::move(status)}; }

wire::GroupResource resource_of(const LocalWrite& write) {
  return {write.request.group, write.request.resource};
}

LocalOutcome needs_cloud(const LocalWrite& write, std::string_view why) {
  return refuse(wire::status::service_unavailable(std::string(write.request.verb) + " of " +
                                                  resource_of(write).text() +
                                                  " needs the cloud: " + std::string(why)));
}

std::string text_at(const json::value& value, wire::Path path) {
  return std::string(wire::dig_text(wire::as_object(value), path));
}

json::object& object_at(json::value& value, std::string_view name) {
  json::value& found = value.as_object()[name];
  if (!found.is_object()) found.emplace_object();
  return found.get_object();
}

// The value without the times that every heartbeat changes.
json::value without_heartbeats(json::value value) {
  if (value.is_object()) {
    value.get_object().erase("lastHeartbeatTime");
    value.get_object().erase("lastProbeTime");
    for (auto& pair : value.get_object())
      pair.value() = without_heartbeats(std::move(pair.value()));
  } else if (value.is_array()) {
    for (json::value& item : value.get_array()) item = without_heartbeats(std::move(item));
  }
  return value;
}

json::value status_of(const json::value& object) {
  const json::value* found = wire::as_object(object).if_contains("status");
  return found == nullptr ? json::value(json::object()) : *found;
}

bool is_local_text(const json::value* value) {
  return value != nullptr && value->is_string() && objects::is_local_version(value->get_string());
}

// The uid that the API server knows; "" for an object that was created here.
std::string cloud_uid(const json::value& object) {
  std::string uid = text_at(object, {"metadata", "uid"});
  return is_local_uid(uid) ? std::string() : uid;
}

// The object after the client's patch or update, or the answer that refuses it.
tl::expected<json::value, wire::ApiStatus> updated(const LocalWrite& write,
                                                   const json::value& current) {
  if (write.request.verb == "patch" && !write.queued) {
    const auto type = objects::parse_patch_type(write.content_type);
    if (!type) return tl::unexpected(wire::status::generic(415));
    return objects::apply_patch(*type, text_at(current, {"kind"}), current, write.body);
  }
  auto body = wire::parse_json(write.body);
  if (!body || !body->is_object()) {
    return tl::unexpected(wire::status::bad_request("the body is not a JSON object"));
  }
  return *std::move(body);
}

// The conditions of others that this write or one that it replaces changes.
WrittenConditions written_by(const LocalWrite& write, const json::value& before,
                             const json::value& after) {
  WrittenConditions types =
      written_conditions(write.request.resource, wire::as_object(status_of(before)),
                         wire::as_object(status_of(after)));
  const std::string uid = cloud_uid(after);
  for (const std::string& body : write.waiting) {
    const auto parsed = wire::parse_json(body);
    if (!parsed) continue;
    const json::object& queued = wire::as_object(*parsed);
    if (wire::uid_of(queued) == uid) types.merge(written_conditions(queued));
  }
  return types;
}

QueuedWrite queue_status(const LocalWrite& write, const json::value& object, bool whole,
                         const WrittenConditions& written) {
  json::object patch;
  const std::string uid = cloud_uid(object);
  if (!uid.empty()) patch["metadata"] = json::object{{"uid", uid}};
  const std::string_view part = whole ? "spec" : "status";
  if (const json::value* found = wire::as_object(object).if_contains(part)) patch[part] = *found;
  name_written_conditions(patch, written);
  return {.verb = "PATCH",
          .target = objects::encode_path(write.request.path),
          .content_type = std::string(objects::media_type(objects::PatchType::strategic)),
          .body = wire::serialize(patch),
          .uid = uid,
          .replaces_older = true};
}

// For a queued write: the parts of its status that this node owns or has written, merged into the
// cached status.
json::value owned_part(const LocalWrite& write, const json::value& current,
                       const json::value& queued, const WrittenConditions& written) {
  const json::value before = status_of(current);
  if (!before.is_object() || !queued.is_object()) return queued;
  if (write.admission == Admission::pod_status) {
    return owned_pod_status(before.get_object(), queued.get_object(), written);
  }
  if (write.admission == Admission::node_status) {
    return owned_node_status(before.get_object(), queued.get_object(), written);
  }
  return queued;
}

// Applies a write of a status (for a CSINode: of its spec) to an object in the cache.
LocalOutcome apply_status(const LocalWrite& write) {
  if (!write.current) return needs_cloud(write, "the object is not known here");
  auto current = wire::parse_json(*write.current);
  if (!current || !current->is_object()) return needs_cloud(write, "the cached object is broken");
  const bool pod = write.admission == Admission::pod_status;
  if (pod && text_at(*current, {"spec", "nodeName"}) != write.node_name) {
    return needs_cloud(write, "the pod is not on this node");
  }
  const std::string uid = text_at(*current, {"metadata", "uid"});
  auto wanted = updated(write, *current);
  if (!wanted) return refuse(std::move(wanted.error()));
  const std::string wanted_uid = text_at(*wanted, {"metadata", "uid"});
  if (!wanted_uid.empty() && wanted_uid != uid) {
    return refuse(wire::status::conflict(resource_of(write), write.request.name,
                                         "Precondition failed: UID in precondition: " + wanted_uid +
                                             ", UID in object meta: " + uid));
  }
  const std::string seen = text_at(*wanted, {"metadata", "resourceVersion"});
  if (!seen.empty() && seen != text_at(*current, {"metadata", "resourceVersion"})) {
    return refuse(wire::status::conflict(resource_of(write), write.request.name));
  }
  const bool whole = write.admission == Admission::csi_node;
  const std::string_view part = whole ? "spec" : "status";
  json::value result = *current;
  if (const json::value* found = wire::as_object(*wanted).if_contains(part)) {
    const auto written = written_conditions(wire::as_object(*wanted));
    result.as_object()[part] = write.queued ? owned_part(write, *current, *found, written) : *found;
  }
  LocalOutcome outcome{.accepted = true, .change = LocalOutcome::Change::put};
  outcome.name = write.request.name;
  outcome.uid = uid;
  if (pod && !write.queued &&
      ends_by_reboot(current->as_object(), wire::as_object(status_of(result)))) {
    outcome.change = LocalOutcome::Change::none;
    outcome.kept_pod = true;
    outcome.answer = wire::serialize(result);
    return outcome;
  }
  object_at(result, "metadata")["resourceVersion"] = std::to_string(write.version);
  outcome.only_heartbeat =
      !whole && without_heartbeats(status_of(result)) == without_heartbeats(status_of(*current));
  outcome.object = wire::serialize(result);
  outcome.answer = outcome.object;
  if (!outcome.only_heartbeat) {
    outcome.queued = queue_status(write, result, whole, written_by(write, *current, result));
  }
  return outcome;
}

LocalOutcome apply_registration(const LocalWrite& write) {
  auto body = wire::parse_json(write.body);
  const std::string name = body ? text_at(*body, {"metadata", "name"}) : "";
  if (name != write.node_name) return needs_cloud(write, "it is not this agent's node");
  if (!write.current) return needs_cloud(write, "the node was never registered");
  LocalOutcome outcome = refuse(wire::status::already_exists(resource_of(write), name));
  // The kubelet now believes that its node is registered and does not try again. But the API server
  // may no longer have the node, so the registration is sent later as well.
  outcome.queued = QueuedWrite{.verb = "POST",
                               .target = objects::encode_path(write.request.path),
                               .content_type = "application/json",
                               .body = std::string(write.body),
                               .replaces_older = true};
  return outcome;
}

LocalOutcome apply_delete(const LocalWrite& write) {
  if (!write.current) return needs_cloud(write, "the pod is not known here");
  auto current = wire::parse_json(*write.current);
  if (!current) return needs_cloud(write, "the cached pod is broken");
  if (text_at(*current, {"spec", "nodeName"}) != write.node_name) {
    return needs_cloud(write, "the pod is not on this node");
  }
  json::value options = json::object();
  if (!write.body.empty()) {
    auto parsed = wire::parse_json(write.body);
    if (!parsed) return refuse(wire::status::bad_request(parsed.error().what));
    options = *std::move(parsed);
  }
  const json::value* grace = wire::dig(wire::as_object(options), {"gracePeriodSeconds"});
  const bool now = write.grace_period_seconds == "0" ||
                   (grace != nullptr && grace->is_number() && grace->to_number<double>() == 0);
  if (!now)
    return needs_cloud(write,
                       "only the deletion of a stopped pod with grace period 0 is accepted here");
  const std::string uid = text_at(*current, {"metadata", "uid"});
  const std::string wanted = text_at(options, {"preconditions", "uid"});
  if (!wanted.empty() && wanted != uid) {
    return refuse(wire::status::conflict(
        resource_of(write), write.request.name,
        "Precondition failed: UID in precondition: " + wanted + ", UID in object meta: " + uid));
  }
  json::object queued{{"kind", "DeleteOptions"}, {"apiVersion", "v1"}, {"gracePeriodSeconds", 0}};
  const std::string known_uid = cloud_uid(*current);
  if (!known_uid.empty()) queued["preconditions"] = json::object{{"uid", known_uid}};
  LocalOutcome outcome{.accepted = true, .change = LocalOutcome::Change::remove};
  outcome.name = write.request.name;
  outcome.uid = uid;
  outcome.answer = wire::status::deleted(resource_of(write), write.request.name, uid).body();
  outcome.queued = QueuedWrite{.verb = "DELETE",
                               .target = objects::encode_path(write.request.path),
                               .content_type = "application/json",
                               .body = wire::serialize(queued),
                               .uid = known_uid};
  return outcome;
}

// Sets what an API server sets in a new object.
void stamp(json::value& object, const LocalWrite& write) {
  json::object& metadata = object_at(object, "metadata");
  metadata["uid"] = write.new_uid;
  metadata["resourceVersion"] = std::to_string(write.version);
  metadata["creationTimestamp"] = format_rfc3339(write.now);
  if (!write.request.namespace_name.empty()) metadata["namespace"] = write.request.namespace_name;
}

LocalOutcome apply_mirror(const LocalWrite& write) {
  auto body = wire::parse_json(write.body);
  if (!body || !body->is_object())
    return refuse(wire::status::bad_request("the body is not a Pod"));
  const bool mirror = !text_at(*body, {"metadata", "annotations", mirror_annotation}).empty();
  if (!mirror || text_at(*body, {"spec", "nodeName"}) != write.node_name) {
    return needs_cloud(write, "only mirrors of this node's static pods are accepted here");
  }
  const std::string name = text_at(*body, {"metadata", "name"});
  if (write.current) return refuse(wire::status::already_exists(resource_of(write), name));
  LocalOutcome outcome{.accepted = true, .status = 201, .change = LocalOutcome::Change::put};
  outcome.queued = QueuedWrite{.verb = "POST",
                               .target = objects::encode_path(write.request.path),
                               .content_type = "application/json",
                               .body = std::string(write.body)};
  stamp(*body, write);
  outcome.name = name;
  outcome.uid = write.new_uid;
  outcome.object = wire::serialize(*body);
  outcome.answer = outcome.object;
  return outcome;
}

// An Event names the version of the object it is about. The API server has never seen a local
// version.
std::string without_local_version(const json::value& event, std::string_view bytes) {
  for (const std::string_view part : {"involvedObject", "regarding"}) {
    if (!is_local_text(wire::dig(wire::as_object(event), {part, "resourceVersion"}))) continue;
    json::value cleared = event;
    object_at(cleared, part).erase("resourceVersion");
    return wire::serialize(cleared);
  }
  return std::string(bytes);
}

LocalOutcome apply_event(const LocalWrite& write) {
  // On 404 for an update, client-go's event recorder creates a new Event.
  if (write.request.verb != "create") {
    return refuse(wire::status::not_found(resource_of(write), write.request.name));
  }
  auto body = wire::parse_json(write.body);
  if (!body || !body->is_object())
    return refuse(wire::status::bad_request("the body is not an Event"));
  LocalOutcome outcome{.accepted = true, .status = 201};
  outcome.queued = QueuedWrite{.verb = "POST",
                               .target = objects::encode_path(write.request.path),
                               .content_type = "application/json",
                               .body = without_local_version(*body, write.body),
                               .may_be_dropped = true};
  stamp(*body, write);
  outcome.answer = wire::serialize(*body);
  return outcome;
}

}  // namespace

std::string local_uid(std::string_view random_uuid) {
  CHECK(random_uuid.size() > local_uid_prefix.size());
  return std::string(local_uid_prefix).append(random_uuid.substr(local_uid_prefix.size()));
}

bool is_local_uid(std::string_view uid) { return uid.starts_with(local_uid_prefix); }

bool carries_local_version(std::string_view body) {
  if (wire::is_protobuf(body)) {
    const auto json = objects::json_of_protobuf(body);
    if (json) return carries_local_version(*json);
    const auto header = wire::read_protobuf_header(body);
    return header && objects::is_local_version(header->resource_version);
  }
  const auto parsed = wire::parse_json(body);
  if (!parsed) return false;
  if (const json::array* operations = parsed->if_array()) {
    return std::any_of(operations->begin(), operations->end(), [](const json::value& operation) {
      return is_local_text(wire::dig(wire::as_object(operation), {"value"}));
    });
  }
  const json::object& object = wire::as_object(*parsed);
  return is_local_text(wire::dig(object, {"metadata", "resourceVersion"})) ||
         is_local_text(wire::dig(object, {"preconditions", "resourceVersion"}));
}

bool is_dry_run(const objects::RequestInfo& request, std::string_view body) {
  const bool may_have_options = request.verb == "delete" || request.verb == "deletecollection";
  if (request.dry_run || !may_have_options) return request.dry_run;
  const auto json = wire::is_protobuf(body) ? objects::json_of_protobuf(body) : std::string(body);
  const auto options = json ? wire::parse_json(*json) : json::value();
  return options && !wire::dig_list(wire::as_object(*options), {"dryRun"}).empty();
}

LocalOutcome apply_local_write(const LocalWrite& write) {
  if (is_dry_run(write.request, write.body))
    return needs_cloud(write, "only the API server can do a dry run");
  switch (write.admission) {
    case Admission::node_status:
    case Admission::pod_status:
    case Admission::csi_node:
      return apply_status(write);
    case Admission::registration:
      return apply_registration(write);
    case Admission::final_delete:
      return apply_delete(write);
    case Admission::mirror_pod:
      return apply_mirror(write);
    case Admission::event:
      return apply_event(write);
    case Admission::token:
      return needs_cloud(write, "no token is stored for this request");
    case Admission::refuse:
      return needs_cloud(write, "only the API server can decide it");
    case Admission::own_lease:
      break;  // The owner of the lease handles these writes.
  }
  UNREACHABLE();
}

}  // namespace holdfast::sync::autonomy
