#include "sync/objects/patch/diff.h"

#include <algorithm>
#include <string>
#include <vector>

#include "sync/objects/patch/schema.h"
#include "sync/objects/patch/strategic_list.h"

namespace holdfast::sync::objects {
namespace strategic {
namespace {

Result<json::object> diff_objects(const json::object& original, const json::object& modified,
                                  const StructType* type, bool retains);

std::string field_name(std::string_view prefix, std::string_view field) {
  return std::string(prefix).append(field);
}

// The element with only its key.
json::object key_only(const json::value& element, std::string_view key) {
  json::object only;
  only[key] = element.get_object().at(key);
  return only;
}

// Checks that all elements have the key. Errors: corrupt.
Status check_keys(const json::array& list, std::string_view key) {
  for (const json::value& element : list) {
    if (!element.get_object().contains(key)) return fail(no_merge_key(element, key));
  }
  return {};
}

bool has_duplicates(const json::array& list, std::string_view key) {
  json::array none;
  ListIndex seen(none, key);
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (seen.has(list[i])) return true;
    seen.add(list[i], i);
  }
  return false;
}

bool same_order(const json::array& original, const json::array& modified, std::string_view key) {
  if (original.size() != modified.size()) return false;
  for (std::size_t i = 0; i < original.size(); ++i) {
    if (original[i].get_object().at(key) != modified[i].get_object().at(key)) return false;
  }
  return true;
}

// `$patch: delete` for the elements of `original` that are not in `modified`, sorted by their keys.
json::array deletions(const json::array& original, const ListIndex& in_modified,
                      std::string_view key) {
  std::vector<json::object> gone;
  for (const json::value& element : original) {
    if (in_modified.has(element)) continue;
    gone.push_back(key_only(element, key));
    gone.back()[directive] = "delete";
  }
  std::stable_sort(gone.begin(), gone.end(), [key](const auto& left, const auto& right) {
    return printed(left.at(key)) < printed(right.at(key));
  });
  json::array all;
  for (json::object& element : gone) all.push_back(std::move(element));
  return all;
}

// The patch that replaces a mergeable list as a whole.
json::array replacement(const json::array& modified) {
  json::array all = modified;
  all.push_back(json::object{{directive, "replace"}});
  return all;
}

Status diff_lists_of_objects(json::object& patch, const json::array& original,
                             const json::array& modified, const PatchField& field) {
  const std::string_view key = field.key;
  if (key.empty()) {
    return fail(Errc::corrupt,
                "cannot merge lists without merge key for " + std::string(field.type));
  }
  for (const json::array* list : {&original, &modified}) {
    if (auto done = check_keys(*list, key); !done) return done;
  }
  if (has_duplicates(original, key) || has_duplicates(modified, key)) {
    if (original != modified) patch[field.field] = replacement(modified);
    return {};
  }
  const ListIndex before(original, key);
  json::array changes;
  for (const json::value& element : modified) {
    const std::size_t at = before.find(element);
    if (at == ListIndex::npos) {
      changes.push_back(element);
      continue;
    }
    TRY(json::object change,
        diff_objects(original[at].get_object(), element.get_object(), field.of, field.retains));
    if (change.empty()) continue;
    change[key] = element.get_object().at(key);
    changes.push_back(std::move(change));
  }
  for (json::value& gone : deletions(original, ListIndex(modified, key), key)) {
    changes.push_back(std::move(gone));
  }
  if (changes.empty() && same_order(original, modified, key)) return {};
  json::array order;
  for (const json::value& element : modified) order.push_back(key_only(element, key));
  if (!changes.empty()) patch[field.field] = std::move(changes);
  if (!order.empty()) patch[field_name(order_prefix, field.field)] = std::move(order);
  return {};
}

void diff_lists_of_scalars(json::object& patch, const json::array& original,
                           const json::array& modified, const PatchField& field) {
  if (original == modified) return;
  const json::array added = without(modified, original);
  const json::array gone = without(original, modified);
  if (!added.empty()) patch[field.field] = added;
  if (!gone.empty()) patch[field_name(delete_prefix, field.field)] = gone;
  if (!modified.empty()) patch[field_name(order_prefix, field.field)] = modified;
}

Status diff_merged_lists(json::object& patch, const json::array& original,
                         const json::array& modified, const PatchField& field) {
  TRY(const Elements elements, elements_of(original, modified));
  const bool replaces = elements == Elements::objects && has_duplicates(modified, field.key);
  if (original.empty() && !replaces) {
    if (!modified.empty()) patch[field.field] = modified;
    return {};
  }
  if (elements == Elements::objects) {
    return diff_lists_of_objects(patch, original, modified, field);
  }
  diff_lists_of_scalars(patch, original, modified, field);
  return {};
}

// A field that is in both objects.
Status diff_field(json::object& patch, std::string_view name, const json::value& original,
                  const json::value& modified, const StructType* type) {
  const auto field = find_patch_field(type, name);
  const bool replaces = field && field->how == PatchField::How::replace;
  if (original.is_object() && modified.is_object() && !replaces) {
    const StructType* of = field ? field->of : nullptr;
    TRY(json::object change,
        diff_objects(original.get_object(), modified.get_object(), of, field && field->retains));
    if (!change.empty()) patch[name] = std::move(change);
    return {};
  }
  const bool merges = field && field->how == PatchField::How::merge;
  if (original.is_array() && modified.is_array() && merges) {
    return diff_merged_lists(patch, original.get_array(), modified.get_array(), *field);
  }
  if (original != modified) patch[name] = modified;
  return {};
}

bool has_more_fields(const json::object& original, const json::object& modified) {
  return std::any_of(original.begin(), original.end(),
                     [&modified](const auto& field) { return !modified.contains(field.key()); });
}

// `retains`: for unions, the result lists all fields that remain ($retainKeys).
Result<json::object> diff_objects(const json::object& original, const json::object& modified,
                                  const StructType* type, bool retains) {
  json::object patch;
  std::vector<std::string> kept;
  for (const auto& field : modified) {
    if (!field.value().is_null()) kept.emplace_back(field.key());
    const json::value* before = original.if_contains(field.key());
    if (before == nullptr) {
      patch[field.key()] = field.value();
      continue;
    }
    auto done = diff_field(patch, field.key(), *before, field.value(), type);
    if (!done) return fail(done.error());
  }
  for (const auto& field : original) {
    if (!modified.contains(field.key())) patch[field.key()] = nullptr;
  }
  if (retains && !kept.empty() && (!patch.empty() || has_more_fields(original, modified))) {
    std::sort(kept.begin(), kept.end());
    patch[retain_keys] = json::array(kept.begin(), kept.end());
  }
  return patch;
}

}  // namespace
}  // namespace strategic

Result<json::object> strategic_diff(std::string_view kind, const json::object& original,
                                    const json::object& modified) {
  return strategic::diff_objects(original, modified, find_type(kind), false);
}

}  // namespace holdfast::sync::objects
