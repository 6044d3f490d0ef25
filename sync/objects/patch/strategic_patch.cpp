#include "sync/objects/patch/strategic_patch.h"

#include <utility>
#include <vector>

#include "sync/objects/patch/merge_patch.h"
#include "sync/objects/patch/strategic_list.h"

namespace holdfast::sync::objects {
namespace strategic {
namespace {

Status merge_object(json::object& original, json::object patch, const StructType* type);

using MaybeField = std::optional<PatchField>;

const StructType* type_of(const MaybeField& field) { return field ? field->of : nullptr; }

bool merges(const MaybeField& field) { return field && field->how == PatchField::How::merge; }

// Removes objects that contain a $patch, at every depth. Returns false if `value` itself is one.
bool strip_directives(json::value& value) {
  if (json::object* object = value.if_object()) {
    if (object->contains(directive)) return false;
    json::object kept;
    for (auto& field : *object) {
      if (strip_directives(field.value())) kept.emplace(field.key(), std::move(field.value()));
    }
    *object = std::move(kept);
  } else if (json::array* array = value.if_array()) {
    json::array kept;
    for (json::value& item : *array) {
      if (strip_directives(item)) kept.push_back(std::move(item));
    }
    *array = std::move(kept);
  }
  return true;
}

// Sets a field to the patch's value, without null fields and directives.
void take_over(json::object& original, std::string_view name, json::value value) {
  prune_nulls(value);
  if (strip_directives(value)) {
    original[name] = std::move(value);
  } else {
    original.stable_erase(name);
  }
}

Result<json::array> merge_objects(json::array before, json::array patch, const PatchField& field) {
  if (field.key.empty()) {
    return fail(Errc::corrupt,
                "cannot merge lists without merge key for " + std::string(field.type));
  }
  if (auto done = take_directives(before, patch, field.key); !done) return fail(done.error());
  json::array merged = before;
  ListIndex at(merged, field.key);
  for (json::value& element : patch) {
    if (!element.get_object().contains(field.key)) return fail(no_merge_key(element, field.key));
    const std::size_t found = at.find(element);
    if (found == ListIndex::npos) {
      at.add(element, merged.size());
      merged.push_back(element);
      continue;
    }
    auto done = merge_object(merged[found].get_object(), element.get_object(), field.of);
    if (!done) return fail(done.error());
  }
  return in_order(std::move(merged), patch, before, field.key);
}

Result<json::array> merge_lists(json::array before, json::array patch, const PatchField& field) {
  TRY(const Elements elements, elements_of(before, patch));
  if (elements == Elements::objects) {
    return merge_objects(std::move(before), std::move(patch), field);
  }
  json::array merged = united(before, patch);
  return in_order(std::move(merged), patch, before, {});
}

Status retain(json::object& original, json::object& patch) {
  const json::value* given = patch.if_contains(retain_keys);
  if (given == nullptr) return {};
  const json::array* names = given->if_array();
  if (names == nullptr) return fail(Errc::invalid, "invalid patch format of retainKeys");
  const ListIndex kept(*names, {});
  for (const auto& field : patch) {
    const std::string_view name = field.key();
    const bool directive_or_null = field.value().is_null() || name == retain_keys ||
                                   name.starts_with(order_prefix) ||
                                   name.starts_with(delete_prefix);
    if (!directive_or_null && !kept.has(json::value(field.key()))) {
      return fail(Errc::invalid, "invalid patch format of retainKeys");
    }
  }
  json::object rest;
  for (auto& field : original) {
    if (kept.has(json::value(field.key()))) rest.emplace(field.key(), std::move(field.value()));
  }
  original = std::move(rest);
  patch.stable_erase(retain_keys);
  return {};
}

// An array field, or nullptr if there is none. Errors: corrupt (not an array).
Result<json::array*> list_in(json::object& object, std::string_view name) {
  json::value* value = object.if_contains(name);
  if (value == nullptr) return nullptr;
  if (!value->is_array()) return fail(bad_type("[]interface {}", *value));
  return &value->get_array();
}

// Processes one $setElementOrder: merges its list, removes it from the patch, and sorts the result.
Status set_order(json::object& original, json::object& patch, const json::value& order_value,
                 std::string_view name, const StructType* type) {
  if (!order_value.is_array()) return fail(bad_type("[]interface {}", order_value));
  const json::array& order = order_value.get_array();
  TRY(json::array* const before, list_in(original, name));
  TRY(json::array* const change, list_in(patch, name));
  const MaybeField field = find_patch_field(type, name);
  const std::string_view key = field ? field->key : std::string_view();
  if (change != nullptr) {
    if (auto done = check_order(*change, order, key); !done) return fail(done.error());
  }
  json::array merged;
  if (before != nullptr && change != nullptr && merges(field)) {
    TRY(merged, merge_lists(*before, *change, *field));
  } else if (change != nullptr) {
    json::value added(std::move(*change));
    (void)strip_directives(added);
    merged = std::move(added.get_array());
  } else if (before != nullptr) {
    merged = *before;
  } else {
    return {};
  }
  const json::array server_order = before != nullptr ? *before : json::array();
  original[name] = in_order(std::move(merged), order, server_order, key);
  patch.stable_erase(name);
  return {};
}

Status set_orders(json::object& original, json::object& patch, const StructType* type) {
  std::vector<std::pair<std::string, json::value>> orders;
  for (const auto& field : patch) {
    if (std::string_view(field.key()).starts_with(order_prefix)) {
      orders.emplace_back(field.key(), field.value());
    }
  }
  for (const auto& [directive_name, order] : orders) {
    patch.stable_erase(directive_name);
    const std::string_view name = std::string_view(directive_name).substr(order_prefix.size());
    auto done = set_order(original, patch, order, name, type);
    if (!done) return fail(done.error());
  }
  return {};
}

Status delete_scalars(json::object& original, std::string_view name, const json::value& unwanted) {
  json::value* before = original.if_contains(name);
  if (unwanted.is_null()) original.stable_erase(name);
  if (before == nullptr || !before->is_array() || !unwanted.is_array()) return {};
  auto elements = elements_of(before->get_array(), unwanted.get_array());
  if (!elements) return fail(elements.error());
  if (*elements == Elements::objects) {
    return fail(Errc::corrupt, "cannot merge lists without merge key for " + std::string(name));
  }
  before->get_array() = without(before->get_array(), unwanted.get_array());
  return {};
}

Status merge_field(json::object& original, std::string_view name, json::value change,
                   const StructType* type) {
  json::value* before = original.if_contains(name);
  const MaybeField field = find_patch_field(type, name);
  if (change.is_null()) {
    original.stable_erase(name);
    return {};
  }
  if (before != nullptr && before->is_object() && change.is_object()) {
    if (!field || field->how != PatchField::How::replace) {
      return merge_object(before->get_object(), std::move(change.get_object()), type_of(field));
    }
    *before = std::move(change);
    return {};
  }
  if (before != nullptr && before->is_array() && change.is_array()) {
    if (!merges(field)) {
      *before = std::move(change);
      return {};
    }
    TRY(json::array merged,
        merge_lists(std::move(before->get_array()), std::move(change.get_array()), *field));
    original[name] = std::move(merged);
    return {};
  }
  take_over(original, name, std::move(change));
  return {};
}

Status merge_object(json::object& original, json::object patch, const StructType* type) {
  if (const json::value* what = patch.if_contains(directive)) {
    const bool replace = *what == json::value("replace");
    if (!replace && *what != json::value("delete")) {
      return fail(Errc::corrupt,
                  "unknown patch type: " + printed(*what) + " in map: " + printed(patch));
    }
    patch.stable_erase(directive);
    if (!replace) patch.clear();
    original = std::move(patch);
    return {};
  }
  if (auto done = retain(original, patch); !done) return done;
  if (auto done = set_orders(original, patch, type); !done) return done;
  for (auto& field : patch) {
    const std::string_view name = field.key();
    const bool deletes = name.starts_with(delete_prefix);
    auto done = deletes ? delete_scalars(original, name.substr(delete_prefix.size()), field.value())
                        : merge_field(original, name, std::move(field.value()), type);
    if (!done) return done;
  }
  return {};
}

}  // namespace
}  // namespace strategic

Result<json::object> strategic_patch(std::string_view kind, json::object original,
                                     json::object patch) {
  auto done = strategic::merge_object(original, std::move(patch), find_type(kind));
  if (!done) return fail(done.error());
  return original;
}

}  // namespace holdfast::sync::objects
