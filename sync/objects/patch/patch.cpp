#include "sync/objects/patch/patch.h"

#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "platform/text.h"
#include "sync/objects/patch/json_patch.h"
#include "sync/objects/patch/merge_patch.h"
#include "sync/objects/patch/schema.h"
#include "sync/objects/patch/strategic_patch.h"

namespace holdfast::sync::objects {
namespace {

using Patched = tl::expected<json::value, wire::ApiStatus>;

constexpr std::array types = {PatchType::json, PatchType::merge, PatchType::strategic};

Patched refuse(wire::ApiStatus answer) {
  return tl::unexpected<wire::ApiStatus>(std::move(answer));
}

Patched apply_json(json::value object, const json::value& patch) {
  const json::array* operations = patch.if_array();
  if (operations == nullptr) {
    return refuse(wire::status::bad_request(
        "json: cannot unmarshal object into Go value of type jsonpatch.Patch"));
  }
  auto patched = json_patch(std::move(object), *operations);
  if (patched) return *std::move(patched);
  if (patched.error().code == Errc::exhausted) {
    return refuse(wire::status::entity_too_large(patched.error().what));
  }
  // Upstream does not return the reason.
  return refuse(wire::status::generic(422));
}

Patched apply_merge(json::value object, json::value patch) {
  if (!patch.is_object()) return refuse(wire::status::bad_request("Invalid JSON Patch"));
  merge_patch(object, std::move(patch));
  return object;
}

Patched apply_strategic(std::string_view kind, json::value object, json::value patch) {
  if (!has_patch_schema(kind)) return refuse(wire::status::generic(415));
  if (!patch.is_object()) {
    return refuse(wire::status::bad_request(
        "json: cannot unmarshal array into Go value of type map[string]interface {}"));
  }
  if (!object.is_object()) return refuse(wire::status::bad_request("invalid JSON document"));
  auto patched =
      strategic_patch(kind, std::move(object.get_object()), std::move(patch.get_object()));
  if (patched) return json::value(*std::move(patched));
  const std::string& why = patched.error().what;
  if (patched.error().code != Errc::invalid) return refuse(wire::status::unexplained(why));
  if (why == "lists of lists are not supported") return refuse(wire::status::generic(422));
  return refuse(wire::status::bad_request(why));
}

}  // namespace

std::optional<PatchType> parse_patch_type(std::string_view content_type) {
  const std::string_view name = trim(content_type.substr(0, content_type.find(';')));
  for (const PatchType type : types) {
    if (name == media_type(type)) return type;
  }
  return std::nullopt;
}

std::string_view media_type(PatchType type) {
  switch (type) {
    case PatchType::json:
      return "application/json-patch+json";
    case PatchType::merge:
      return "application/merge-patch+json";
    case PatchType::strategic:
      return "application/strategic-merge-patch+json";
  }
  return "";
}

Patched apply_patch(PatchType type, std::string_view kind, json::value object,
                    std::string_view patch) {
  auto parsed = wire::parse_json(patch);
  if (!parsed) {
    const bool too_large = parsed.error().code == Errc::exhausted;
    return refuse(too_large ? wire::status::entity_too_large(parsed.error().what)
                            : wire::status::bad_request(parsed.error().what));
  }
  switch (type) {
    case PatchType::json:
      return apply_json(std::move(object), *parsed);
    case PatchType::merge:
      return apply_merge(std::move(object), *std::move(parsed));
    case PatchType::strategic:
      return apply_strategic(kind, std::move(object), *std::move(parsed));
  }
  return refuse(wire::status::generic(415));
}

}  // namespace holdfast::sync::objects
