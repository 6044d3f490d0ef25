#include "sync/objects/patch/merge_patch.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <vector>

namespace holdfast::sync::objects {

void prune_nulls(json::value& value) {
  if (json::array* array = value.if_array()) {
    for (json::value& item : *array) prune_nulls(item);
  }
  json::object* object = value.if_object();
  if (object == nullptr) return;
  json::object kept;
  kept.reserve(object->size());
  for (auto& field : *object) {
    if (field.value().is_null()) continue;
    prune_nulls(field.value());
    kept.emplace(field.key(), std::move(field.value()));
  }
  *object = std::move(kept);
}

void merge_patch(json::value& target, json::value patch) {
  if (!patch.is_object() || !target.is_object()) {
    prune_nulls(patch);
    target = std::move(patch);
    return;
  }
  json::object& into = target.get_object();
  for (auto& field : patch.get_object()) {
    if (field.value().is_null()) {
      into.stable_erase(field.key());
    } else {
      merge_patch(into[field.key()], std::move(field.value()));
    }
  }
}

}  // namespace holdfast::sync::objects
