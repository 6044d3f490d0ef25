#include "agent/cloud/attachments.h"

#include "sync/api/json.h"

namespace holdfast::agent {

namespace json = boost::json;

namespace {

// The text at a field of an object; empty when either is missing.
std::string_view text(const json::value* object, std::string_view field) {
  if (object == nullptr || !object->is_object()) return {};
  const json::value* found = object->get_object().if_contains(field);
  return found != nullptr && found->is_string() ? std::string_view(found->get_string())
                                                : std::string_view{};
}

const json::value* child(const json::value& object, std::string_view field) {
  return object.is_object() ? object.get_object().if_contains(field) : nullptr;
}

}  // namespace

Result<std::vector<Attachment>> attachments_of(std::string_view list, std::string_view node) {
  TRY(const json::value whole, sync::parse_json(list));
  const json::value* items = child(whole, "items");
  std::vector<Attachment> found;
  if (items == nullptr || items->is_null()) return found;
  if (!items->is_array()) return fail(Errc::invalid, "items: expected an array");
  for (const json::value& item : items->get_array()) {
    const json::value* metadata = child(item, "metadata");
    const std::string_view name = text(metadata, "name");
    if (name.empty() || text(child(item, "spec"), "nodeName") != node) continue;
    if (!text(metadata, "deletionTimestamp").empty()) continue;
    found.push_back({std::string(name), std::string(text(metadata, "uid"))});
  }
  return found;
}

}  // namespace holdfast::agent
