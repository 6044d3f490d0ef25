#include "sync/runtime/status_patch.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "sync/runtime/pod_status.h"
#include "sync/wire/codec.h"
#include "sync/wire/read.h"

namespace holdfast::sync::runtime {
namespace {

void clear_missing(json::object& object, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (!object.contains(name)) object[name] = nullptr;
  }
}

}  // namespace

std::string status_patch(const PodKey& pod, const PodStatus& status) {
  json::object body = wire::encode_part(status);
  clear_missing(body, {"reason", "message"});
  json::array conditions;
  for (const json::value& each : wire::dig_list(body, {"conditions"})) {
    if (!is_own_condition(wire::dig_text(each.as_object(), {"type"}))) continue;
    clear_missing(conditions.emplace_back(each).as_object(), {"reason", "message"});
  }
  body.stable_erase("conditions");
  if (!conditions.empty()) body["conditions"] = std::move(conditions);
  json::object metadata;
  metadata["uid"] = pod.uid;
  json::object patch;
  patch["metadata"] = std::move(metadata);
  patch["status"] = std::move(body);
  return wire::serialize(patch);
}

}  // namespace holdfast::sync::runtime
