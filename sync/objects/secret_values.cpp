#include "sync/objects/secret_values.h"

#include "sync/wire/json.h"

namespace holdfast::sync::objects {

std::string without_secret_values(std::string_view secret) {
  auto parsed = wire::parse_json(secret);
  if (!parsed || !parsed->is_object()) return "null";
  json::object& object = parsed->as_object();
  for (const char* field : {"data", "stringData"}) {
    json::value* values = object.if_contains(field);
    if (values == nullptr) continue;
    if (!values->is_object()) *values = nullptr;
    if (!values->is_object()) continue;
    for (auto& [key, value] : values->as_object()) {
      const std::size_t size = value.is_string() ? value.as_string().size() : 0;
      value = "redacted, " + std::to_string(size) + " characters";
    }
  }
  if (json::value* metadata = object.if_contains("metadata"); metadata && metadata->is_object()) {
    metadata->as_object().erase("annotations");
    metadata->as_object().erase("managedFields");
  }
  return wire::serialize(*parsed);
}

}  // namespace holdfast::sync::objects
