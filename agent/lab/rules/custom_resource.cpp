#include "agent/lab/rules/custom_resource.h"

#include <algorithm>
#include <boost/json.hpp>
#include <map>

#include "agent/lab/rules/custom_schema.h"
#include "platform/check.h"
#include "platform/text.h"
#include "sync/objects/typed.h"
#include "sync/wire/json.h"
#include "sync/wire/quote.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

// Clients only compare it.
std::string storage_hash_of(const json::object& crd) {
  std::uint64_t hash = 14695981039346656037U;  // FNV-1a
  for (const char c : sync::wire::uid_of(crd)) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  }
  std::string bytes;
  for (int at = 0; at < 8; ++at) bytes += static_cast<char>(hash >> (8 * at));
  return base64_encode(bytes);
}

// The object with kind and apiVersion first, then metadata, then the other fields by name.
json::object ordered(json::object object, std::string_view kind, const std::string& api_version) {
  json::object made = {{"kind", kind}, {"apiVersion", api_version}};
  const json::value* metadata = object.if_contains("metadata");
  auto shaped = sync::objects::shape(
      sync::known_type("ObjectMeta"),
      metadata != nullptr && metadata->is_object() ? *metadata : json::value(json::object()), {},
      {}, sync::objects::ManagedFields::keep);
  CHECK(shaped.has_value());  // decode_custom() has shaped it before.
  made["metadata"] = std::move(shaped->object);
  std::map<std::string, json::value> others;
  for (json::key_value_pair& pair : object) {
    if (!made.contains(pair.key())) others[pair.key()] = std::move(pair.value());
  }
  for (auto& [name, value] : others) made[name] = std::move(value);
  return made;
}

json::object with_defaults(const CustomResource& resource, std::string_view version,
                           json::object object) {
  const json::object* schema = resource.schema_of(version);
  if (schema == nullptr) return object;
  json::value value(std::move(object));
  apply_schema_defaults(value, *schema);
  return std::move(value.get_object());
}

sync::wire::ApiStatus unfit(const CustomResource& resource, std::string_view version,
                            const std::string& why) {
  return sync::wire::status::bad_request(std::string(resource.kind) + " in version " +
                                         sync::wire::quoted(version) + " cannot be handled as a " +
                                         std::string(resource.kind) + ": " + why);
}

}  // namespace

std::shared_ptr<const CustomResource> CustomResource::make(const json::object& crd) {
  const auto made = std::make_shared<CustomResource>();
  made->definition = crd;
  const json::object& spec = sync::wire::dig_object(made->definition, {"spec"});
  const json::object& names = sync::wire::dig_object(spec, {"names"});
  made->is_custom = true;
  made->group = sync::wire::dig_text(spec, {"group"});
  made->plural = sync::wire::dig_text(names, {"plural"});
  made->kind = sync::wire::dig_text(names, {"kind"});
  made->singular = sync::wire::dig_text(names, {"singular"});
  made->namespaced = sync::wire::dig_text(spec, {"scope"}) == "Namespaced";
  made->verbs = sync::printing::Verbs::all;
  made->counts_generation = true;
  made->terminating = sync::wire::is_terminating(crd);
  for (const json::value& name : sync::wire::dig_list(names, {"shortNames"})) {
    made->short_names.push_back(sync::wire::as_text(name));
  }
  for (const json::value& name : sync::wire::dig_list(names, {"categories"})) {
    made->categories.push_back(sync::wire::as_text(name));
  }
  made->storage_hash = made->texts_.emplace_back(storage_hash_of(crd));
  bool status = false;
  bool scale = false;
  for (const json::value& each : sync::wire::dig_list(spec, {"versions"})) {
    const json::object& version = sync::wire::as_object(each);
    sync::printing::ServedVersion served{sync::wire::dig_text(version, {"name"})};
    const std::string_view warning = sync::wire::dig_text(version, {"deprecationWarning"});
    if (sync::wire::dig_bool(version, {"deprecated"})) {
      const std::string text =
          made->api_version(served.name) + " " + std::string(made->kind) + " is deprecated";
      served.warning = warning.empty() ? made->texts_.emplace_back(text) : warning;
    }
    status = status || sync::wire::dig_object(version, {"subresources"}).contains("status");
    scale = scale || sync::wire::dig_object(version, {"subresources"}).contains("scale");
    const bool stored = sync::wire::dig_bool(version, {"storage"});
    made->versions.insert(stored ? made->versions.begin() : made->versions.end(), served);
  }
  using enum sync::printing::Verbs;
  if (status) made->subresources.push_back({"status", "", "", "", get_patch_update});
  if (scale)
    made->subresources.push_back({"scale", "Scale", "autoscaling", "v1", get_patch_update});
  return made;
}

const json::object& CustomResource::version_of(std::string_view version) const {
  static const json::object none;
  for (const json::value& each : sync::wire::dig_list(definition, {"spec", "versions"})) {
    const json::object& found = sync::wire::as_object(each);
    if (sync::wire::dig_text(found, {"name"}) == version) return found;
  }
  return none;
}

const json::object* CustomResource::schema_of(std::string_view version) const {
  const json::object& schema = sync::wire::dig_object(version_of(version), {"schema"});
  const json::value* found = schema.if_contains("openAPIV3Schema");
  return found != nullptr && found->is_object() ? &found->get_object() : nullptr;
}

bool CustomResource::has_subresource(std::string_view version, std::string_view name) const {
  return sync::wire::dig_object(version_of(version), {"subresources"}).contains(name);
}

bool CustomResource::serves(std::string_view version) const {
  return sync::wire::dig_bool(version_of(version), {"served"});
}

const CustomResource* custom_of(const sync::printing::Resource& resource) {
  return resource.is_custom ? static_cast<const CustomResource*>(&resource) : nullptr;
}

Answer<Decoded> decode_custom(const CustomResource& resource,
                              const sync::printing::ServedVersion& version,
                              const json::object& given, FieldValidation validation) {
  Decoded decoded{given, {}};
  const json::value* metadata = given.if_contains("metadata");
  auto shaped = sync::objects::shape(sync::known_type("ObjectMeta"),
                                     metadata != nullptr ? *metadata : json::value(json::object()),
                                     {}, {}, sync::objects::ManagedFields::keep);
  if (!shaped) return refuse(unfit(resource, version.name, shaped.error().what));
  decoded.object["metadata"] = std::move(shaped->object);
  std::vector<std::string> unknown;
  if (const json::object* schema = resource.schema_of(version.name)) {
    json::value value(std::move(decoded.object));
    prune(value, *schema, true, "", unknown);
    decoded.object = std::move(value.get_object());
  }
  for (const std::string& name : shaped->unknown) unknown.push_back("metadata." + name);
  if (validation != FieldValidation::ignore) {
    for (const std::string& path : unknown) {
      decoded.warnings.push_back("unknown field " + sync::wire::quoted(path));
    }
  }
  if (validation == FieldValidation::strict && !unknown.empty()) {
    return refuse(
        unfit(resource, version.name, "strict decoding error: " + join(decoded.warnings, ", ")));
  }
  decoded.object = with_defaults(resource, version.name, std::move(decoded.object));
  decoded.object = canonical_custom(resource, std::move(decoded.object));
  return decoded;
}

json::object canonical_custom(const CustomResource& resource, json::object object) {
  object = with_defaults(resource, resource.storage_version(), std::move(object));
  return ordered(std::move(object), resource.kind, resource.stored_version());
}

json::object serve_custom(const CustomResource& resource,
                          const sync::printing::ServedVersion& version,
                          const json::object& object) {
  json::object made = with_defaults(resource, version.name, object);
  if (const json::object* schema = resource.schema_of(version.name)) {
    std::vector<std::string> unknown;
    json::value value(std::move(made));
    prune(value, *schema, true, "", unknown);
    made = std::move(value.get_object());
  }
  return ordered(std::move(made), resource.kind, resource.api_version(version.name));
}

void validate_custom(sync::wire::FieldErrors& errors, const CustomResource& resource,
                     const json::object& object) {
  const json::object* schema = resource.schema_of(resource.storage_version());
  if (schema == nullptr) return;
  validate_by_schema(errors, json::value(object), *schema, "");
  std::stable_sort(errors.begin(), errors.end(),
                   [](const auto& left, const auto& right) { return left.field < right.field; });
}

const json::value* value_at(const json::object& object, std::string_view path) {
  const json::value* here = nullptr;
  const json::object* in = &object;
  for (std::string_view step : split(path, '.')) {
    if (step.empty()) continue;
    std::optional<std::size_t> index;
    if (const std::size_t bracket = step.find('['); bracket != std::string_view::npos) {
      const std::size_t end = step.find(']', bracket);
      if (end == std::string_view::npos) return nullptr;
      index = parse_int<std::size_t>(step.substr(bracket + 1, end - bracket - 1));
      if (!index) return nullptr;
      step = step.substr(0, bracket);
    }
    here = in == nullptr ? nullptr : in->if_contains(step);
    if (here != nullptr && index) {
      const json::array* list = here->if_array();
      here = list != nullptr && *index < list->size() ? &(*list)[*index] : nullptr;
    }
    if (here == nullptr) return nullptr;
    in = here->if_object();
  }
  return here;
}

}  // namespace holdfast::agent::lab
