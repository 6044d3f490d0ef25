#include "agent/lab/rules/convert.h"

#include <boost/json.hpp>

#include "agent/lab/rules/custom_resource.h"
#include "platform/check.h"
#include "sync/objects/typed.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

// Names of an event's fields in events.k8s.io/v1 and in core/v1.
constexpr std::pair<std::string_view, std::string_view> event_names[] = {
    {"regarding", "involvedObject"},
    {"note", "message"},
    {"reportingController", "reportingComponent"},
    {"deprecatedSource", "source"},
    {"deprecatedFirstTimestamp", "firstTimestamp"},
    {"deprecatedLastTimestamp", "lastTimestamp"},
    {"deprecatedCount", "count"},
};

void rename(json::object& object, std::string_view from, std::string_view to) {
  json::value* found = object.if_contains(from);
  if (found == nullptr) return;
  json::value value = std::move(*found);
  object.erase(from);
  object[to] = std::move(value);
}

void rename_each(json::object& slice, std::string_view from, std::string_view to) {
  json::value* endpoints = slice.if_contains("endpoints");
  if (endpoints == nullptr || !endpoints->is_array()) return;
  for (json::value& endpoint : endpoints->get_array()) {
    if (endpoint.is_object()) rename(endpoint.get_object(), from, to);
  }
}

json::object reshaped(const sync::StructType& type, const json::object& object,
                      std::string_view kind, std::string_view api_version) {
  auto made =
      sync::objects::shape(type, object, kind, api_version, sync::objects::ManagedFields::keep);
  CHECK(made.has_value());  // It has already been shaped as the other version.
  return std::move(made->object);
}

}  // namespace

const sync::printing::Resource& stored_resource(const sync::printing::Resource& resource) {
  if (resource.group != "events.k8s.io") return resource;
  const sync::printing::Resource* core = sync::printing::find_resource("", "v1", "events");
  CHECK(core != nullptr);
  return *core;
}

const sync::StructType& type_of(const sync::printing::Resource& resource,
                                const sync::printing::ServedVersion& version) {
  std::string_view name = version.type.empty() ? resource.kind : version.type;
  if (name.ends_with("SubjectAccessReview")) name = "SubjectAccessReview";
  const sync::StructType* type = sync::find_type(name);
  CHECK(type != nullptr);
  return *type;
}

const sync::StructType& stored_type(const sync::printing::Resource& resource) {
  const sync::printing::Resource& stored = stored_resource(resource);
  return type_of(stored, stored.versions.front());
}

bool is_stored_version(const sync::printing::Resource& resource,
                       const sync::printing::ServedVersion& version) {
  // Defaults may have been added to the schema of a custom resource since the object was stored.
  return !resource.is_custom && &stored_resource(resource) == &resource &&
         &version == &resource.versions.front();
}

MergeType merge_type_of(const sync::printing::Resource& resource,
                        const sync::printing::ServedVersion& version) {
  if (const CustomResource* custom = custom_of(resource)) {
    return MergeType::of_custom(custom->schema_of(version.name));
  }
  return MergeType::of(type_of(resource, version));
}

MergeType merge_type_of(const sync::printing::Resource& resource) {
  const sync::printing::Resource& stored = stored_resource(resource);
  return merge_type_of(stored, stored.versions.front());
}

json::object zero_of(const sync::printing::Resource& resource,
                     const sync::printing::ServedVersion& version) {
  if (resource.is_custom) {
    return {{"kind", resource.kind},
            {"apiVersion", resource.api_version(version.name)},
            {"metadata", json::object()}};
  }
  return reshaped(type_of(resource, version), json::object{{"metadata", json::object()}},
                  resource.kind, resource.api_version(version.name));
}

json::object to_stored(const sync::printing::Resource& resource,
                       const sync::printing::ServedVersion& version, const json::object& object) {
  if (is_stored_version(resource, version)) return object;
  json::object made = object;
  if (resource.group == "events.k8s.io") {
    for (const auto& [served, stored] : event_names) rename(made, served, stored);
  }
  if (version.type == "EndpointSliceV1beta1") rename_each(made, "topology", "deprecatedTopology");
  return reshaped(stored_type(resource), made, resource.kind,
                  stored_resource(resource).stored_version());
}

json::object from_stored(const sync::printing::Resource& resource,
                         const sync::printing::ServedVersion& version, const json::object& object) {
  if (const CustomResource* custom = custom_of(resource)) {
    return serve_custom(*custom, version, object);
  }
  if (is_stored_version(resource, version)) return object;
  json::object made = object;
  if (resource.group == "events.k8s.io") {
    for (const auto& [served, stored] : event_names) rename(made, stored, served);
  }
  if (version.type == "EndpointSliceV1beta1") rename_each(made, "deprecatedTopology", "topology");
  return reshaped(type_of(resource, version), made, resource.kind,
                  resource.api_version(version.name));
}

}  // namespace holdfast::agent::lab
