#include "agent/lab/rules/merge_type.h"

#include <algorithm>
#include <boost/json.hpp>

#include "platform/text.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

// Structs that upstream marks as atomic.
constexpr std::string_view atomic_types[] = {"LabelSelector",
                                             "LocalObjectReference",
                                             "ObjectReference",
                                             "TypedLocalObjectReference",
                                             "SecretKeySelector",
                                             "ConfigMapKeySelector",
                                             "ObjectFieldSelector",
                                             "ResourceFieldSelector",
                                             "NodeSelector",
                                             "NodeSelectorTerm",
                                             "TopologySelectorTerm",
                                             "SecretReference",
                                             "ScopeSelector",
                                             "FileKeySelector",
                                             "EndpointAddress",
                                             "EndpointPort",
                                             "ScopedResourceSelectorRequirement"};

// Maps that upstream marks as atomic: "type.field".
constexpr std::string_view atomic_maps[] = {"ServiceSpec.selector", "PodSpec.nodeSelector",
                                            "ReplicationControllerSpec.selector"};

bool has(const auto& list, std::string_view text) {
  return std::find(std::begin(list), std::end(list), text) != std::end(list);
}

bool is_atomic_map(const sync::StructType& owner, const sync::Field& field) {
  return has(atomic_maps, std::string(owner.name) + "." + std::string(field.name));
}

bool preserves(const json::object& schema) {
  return sync::wire::dig_bool(schema, {"x-kubernetes-preserve-unknown-fields"});
}

}  // namespace

MergeType MergeType::of(const sync::StructType& type) {
  MergeType made;
  made.source_ = Source::structure;
  made.type_ = &type;
  return made;
}

MergeType MergeType::of_custom(const json::object* schema) {
  MergeType made;
  made.source_ = Source::custom_root;
  made.schema_ = schema;
  return made;
}

MergeType::How MergeType::how(const json::value& value) const {
  switch (source_) {
    case Source::untyped:
      return value.is_object() ? How::fields : How::leaf;
    case Source::structure:
      return value.is_object() && !has(atomic_types, type_->name) ? How::fields : How::leaf;
    case Source::field: {
      const How wanted = field_how();
      if (wanted == How::fields) return value.is_object() ? wanted : How::leaf;
      return value.is_array() ? wanted : How::leaf;
    }
    case Source::custom_root:
      return value.is_object() ? How::fields : How::leaf;
    case Source::schema:
      return schema_how(value);
  }
  return How::leaf;
}

MergeType::How MergeType::field_how() const {
  if (inside_ || field_->shape == sync::Shape::single) return How::leaf;  // scalars; see child()
  if (field_->shape == sync::Shape::map) return atomic_ ? How::leaf : How::fields;
  if (!field_->keys.empty()) return How::keyed;
  return field_->merge ? How::set : How::leaf;
}

MergeType::How MergeType::schema_how(const json::value& value) const {
  if (value.is_object()) {
    const bool atomic = sync::wire::dig_text(*schema_, {"x-kubernetes-map-type"}) == "atomic";
    return atomic ? How::leaf : How::fields;
  }
  if (!value.is_array()) return How::leaf;
  const std::string_view list = sync::wire::dig_text(*schema_, {"x-kubernetes-list-type"});
  if (list == "map") return How::keyed;
  return list == "set" ? How::set : How::leaf;
}

bool MergeType::declares(std::string_view name) const {
  switch (source_) {
    case Source::structure:
      return type_->field(name) != nullptr ||
             (type_->name == "ObjectMeta" && name == "managedFields");
    case Source::custom_root:
      if (name == "metadata" || name == "kind" || name == "apiVersion") return true;
      [[fallthrough]];
    case Source::schema:
      if (schema_ == nullptr || preserves(*schema_)) return true;
      if (sync::wire::dig_object(*schema_, {"properties"}).contains(name)) return true;
      return schema_->contains("additionalProperties");
    case Source::untyped:
    case Source::field:
      return true;
  }
  return true;
}

MergeType MergeType::child(std::string_view name) const {
  MergeType made;
  if (source_ == Source::structure) {
    const sync::Field* field = type_->field(name);
    if (field == nullptr) return made;
    if (field->shape == sync::Shape::single && field->type != nullptr) return of(*field->type);
    made.source_ = Source::field;
    made.field_ = field;
    made.atomic_ = is_atomic_map(*type_, *field);
    return made;
  }
  if (source_ == Source::field) return item();
  if (source_ == Source::untyped) return made;
  if (source_ == Source::custom_root && name == "metadata") {
    return of(sync::known_type("ObjectMeta"));
  }
  if (schema_ == nullptr) return made;
  const json::object& properties = sync::wire::dig_object(*schema_, {"properties"});
  const json::value* found = properties.if_contains(name);
  if (found == nullptr) found = schema_->if_contains("additionalProperties");
  if (found == nullptr || !found->is_object()) return made;
  made.source_ = Source::schema;
  made.schema_ = &found->get_object();
  return made;
}

MergeType MergeType::item() const {
  MergeType made;
  if (source_ == Source::field) {
    if (field_->type != nullptr) return of(*field_->type);
    made.source_ = Source::field;
    made.field_ = field_;
    made.inside_ = true;
    return made;
  }
  if (source_ != Source::schema) return made;
  const json::value* items = schema_->if_contains("items");
  if (items == nullptr || !items->is_object()) return made;
  made.source_ = Source::schema;
  made.schema_ = &items->get_object();
  return made;
}

std::vector<std::string> MergeType::keys() const {
  std::vector<std::string> names;
  if (source_ == Source::field) {
    for (const std::string_view name : split(field_->keys, ',')) names.emplace_back(name);
  } else if (source_ == Source::schema) {
    for (const json::value& name : sync::wire::dig_list(*schema_, {"x-kubernetes-list-map-keys"}))
      names.emplace_back(sync::wire::as_text(name));
  }
  return names;
}

}  // namespace holdfast::agent::lab
