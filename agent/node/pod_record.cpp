#include "agent/node/pod_record.h"

#include <boost/json/object.hpp>

#include "sync/wire/codec.h"

namespace holdfast::agent::node {
namespace {

namespace json = boost::json;
using sync::runtime::StopCause;

constexpr std::pair<StopCause, std::string_view> causes[] = {
    {StopCause::completed, "completed"},
    {StopCause::deadline, "deadline"},
    {StopCause::deleted, "deleted"},
    {StopCause::removed, "removed"},
};

std::string_view text_of(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  const json::string* text = value != nullptr ? value->if_string() : nullptr;
  return text != nullptr ? std::string_view(*text) : std::string_view();
}

Result<sync::runtime::PodRecord> from_object(const json::object& object, std::string_view boot_id) {
  const json::value* encoded = object.if_contains("pod");
  if (encoded == nullptr) return fail(Errc::corrupt, "it contains no pod");
  auto pod = sync::wire::decode<sync::Pod>(*encoded);
  if (!pod) return fail(Errc::corrupt, pod.error().what);
  sync::runtime::PodRecord record;
  record.pod = std::make_shared<sync::Pod>(*std::move(pod));
  const auto accepted = parse_rfc3339(text_of(object, "acceptedAt"));
  if (!accepted) return fail(Errc::corrupt, accepted.error().what);
  record.accepted_wall = *accepted;
  const json::value* mono = object.if_contains("acceptedMonoNs");
  if (text_of(object, "bootId") == boot_id && mono != nullptr && mono->is_int64()) {
    record.accepted = MonoTime(Duration(mono->get_int64()));
  }
  const std::string_view stopping = text_of(object, "stopping");
  for (const auto& [cause, name] : causes) {
    if (name == stopping) record.stopping = cause;
  }
  // A pod with an unknown stop cause must not be started.
  if (!stopping.empty() && !record.stopping) {
    return fail(Errc::corrupt, "unknown value of \"stopping\": " + std::string(stopping));
  }
  return record;
}

}  // namespace

std::string to_json(const sync::runtime::PodRecord& record, std::string_view boot_id) {
  json::object object;
  object["acceptedAt"] = format_rfc3339(record.accepted_wall, TimeDigits::micros);
  if (record.accepted) {
    object["acceptedMonoNs"] = record.accepted->time_since_epoch().count();
    object["bootId"] = boot_id;
  }
  for (const auto& [cause, name] : causes) {
    if (record.stopping == cause) object["stopping"] = name;
  }
  sync::Pod pod = *record.pod;
  pod.metadata.unknown_fields = {};  // managedFields: large, and never sent back
  object["pod"] = sync::wire::encode(pod);
  return sync::wire::serialize(object) + "\n";
}

Result<sync::runtime::PodRecord> read_pod_record(std::string_view text, std::string_view boot_id) {
  const auto value = sync::wire::parse_json(text);
  if (!value) return fail(Errc::corrupt, value.error().what);
  const json::object* object = value->if_object();
  if (object == nullptr) return fail(Errc::corrupt, "not a JSON object");
  return from_object(*object, boot_id);
}

}  // namespace holdfast::agent::node
