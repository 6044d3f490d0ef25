#include "sync/autonomy/answered_state.h"

#include "sync/autonomy/local_form.h"
#include "sync/wire/json.h"
#include "sync/wire/protobuf/status.h"
#include "sync/wire/read.h"

namespace holdfast::sync::autonomy {
namespace {

AnsweredState absent() { return {.exists = false}; }

// Whether an object that a DELETE has returned is still there.
bool outlives_deletion(const json::object& object) {
  return !wire::dig_list(object, {"metadata", "finalizers"}).empty() ||
         wire::dig_int(object, {"metadata", "deletionGracePeriodSeconds"}) > 0;
}

// A 404 may also be that of a path, or of something in front of the API server.
bool says_absent(std::string_view name, std::string_view body) {
  const auto status = wire::parse_status(body);
  return status && status->reason == "NotFound" && status->details && status->details->name == name;
}

}  // namespace

std::optional<AnsweredState> answered_state(const WriteAnswer& answer) {
  const bool is_deletion = answer.verb == "DELETE";
  if (answer.http_status == 404) {
    if (!says_absent(answer.name, answer.body)) return std::nullopt;
    return absent();
  }
  if (answer.http_status < 200 || answer.http_status >= 300) return std::nullopt;
  if (const auto status = wire::parse_status(answer.body)) {
    if (!is_deletion || status->failed()) return std::nullopt;
    return absent();
  }
  auto text = body_as_json(std::string(answer.body));
  if (!text) return std::nullopt;
  const auto parsed = wire::parse_json(*text);
  if (!parsed) return std::nullopt;
  const json::object& object = wire::as_object(*parsed);
  const auto version = objects::parse_version(wire::version_of(object));
  const std::string_view uid = wire::uid_of(object);
  const bool is_whole = wire::name_of(object) == answer.name && !uid.empty() && version &&
                        *version > 0 && !objects::is_local(*version);
  if (!is_whole) return std::nullopt;
  if (is_deletion && !outlives_deletion(object)) return absent();
  return AnsweredState{.uid = std::string(uid), .version = *version, .object = *std::move(text)};
}

}  // namespace holdfast::sync::autonomy
