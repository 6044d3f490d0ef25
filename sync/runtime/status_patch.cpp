#include "sync/runtime/status_patch.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "sync/wire/codec.h"

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
  if (json::value* conditions = body.if_contains("conditions")) {
    for (json::value& condition : conditions->as_array()) {
      clear_missing(condition.as_object(), {"reason", "message"});
    }
  }
  json::object metadata;
  metadata["uid"] = pod.uid;
  json::object patch;
  patch["metadata"] = std::move(metadata);
  patch["status"] = std::move(body);
  return wire::serialize(patch);
}

}  // namespace holdfast::sync::runtime
