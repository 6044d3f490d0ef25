#include "agent/cloud/attachments.h"

#include "sync/wire/json.h"
#include "sync/wire/list_bytes.h"

namespace holdfast::agent {

namespace json = boost::json;

namespace {

constexpr std::size_t items_max = 250'000;

// The string at `field` of `object`; empty if either is missing.
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
  TRY(const sync::wire::ListBytes whole, sync::wire::split_list(list, items_max));
  std::vector<Attachment> found;
  for (const std::string_view bytes : whole.items) {
    TRY(const json::value item, sync::wire::parse_json(bytes));
    const json::value* metadata = child(item, "metadata");
    const std::string_view name = text(metadata, "name");
    if (name.empty() || text(child(item, "spec"), "nodeName") != node) continue;
    if (!text(metadata, "deletionTimestamp").empty()) continue;
    found.push_back({std::string(name), std::string(text(metadata, "uid"))});
  }
  return found;
}

}  // namespace holdfast::agent
