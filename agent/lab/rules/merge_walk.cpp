#include "agent/lab/rules/merge_walk.h"

#include <boost/json.hpp>
#include <optional>

#include "sync/wire/json.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;
using How = MergeType::How;

// The step to an item of a list with keys or of a set.
std::string item_step(const json::value& item, const MergeType& list, How how) {
  if (how == How::set) return value_step(item);
  return key_step(sync::wire::as_object(item), list.keys());
}

// The items of a list by their steps, in order of the list. Of duplicates the first one counts.
struct Items {
  std::vector<std::pair<std::string, const json::value*>> list;

  Items(const json::value* value, const MergeType& type, How how) {
    if (value == nullptr || !value->is_array()) return;
    for (const json::value& item : value->get_array()) {
      list.emplace_back(item_step(item, type, how), &item);
    }
  }
  [[nodiscard]] const json::value* find(std::string_view step) const {
    for (const auto& [known, item] : list) {
      if (known == step) return item;
    }
    return nullptr;
  }
};

Status add_fields(FieldSet& set, const json::value& value, const MergeType& type,
                  const std::string& path);

// A step as part of a path in an error.
std::string printed(const std::string& step) {
  FieldSet set;
  set.children[step].member = true;
  return paths_of(set).front();
}

Status add_items(FieldSet& set, const json::value& value, const MergeType& type, How how,
                 const std::string& path) {
  std::vector<std::string> needed;
  if (how == How::keyed && !type.has_default_keys()) needed = type.keys();
  std::size_t place = 0;
  for (const json::value& item : value.get_array()) {
    const std::string element = ": element " + std::to_string(place++);
    for (const std::string& key : needed) {
      if (sync::wire::as_object(item).contains(key)) continue;
      return fail(Errc::invalid, path + element +
                                     ": associative list with keys has an element that omits key "
                                     "field \"" +
                                     key + "\" (and doesn't have default value)");
    }
    const std::string step = item_step(item, type, how);
    if (set.children.contains(step)) {
      return fail(Errc::invalid, path + ": duplicate entries for key " + printed(step));
    }
    FieldSet& child = set.children[step];
    child.member = true;
    if (how == How::set) continue;
    FieldSet inner;
    if (auto done = add_fields(inner, item, type.item(), path + printed(step)); !done) return done;
    child.children = std::move(inner.children);
  }
  return {};
}

Status add_fields(FieldSet& set, const json::value& value, const MergeType& type,
                  const std::string& path) {
  const How how = type.how(value);
  const bool empty = (value.is_object() && value.get_object().empty()) ||
                     (value.is_array() && value.get_array().empty());
  if (how == How::leaf || empty) {
    set.member = true;
    return {};
  }
  if (how != How::fields) return add_items(set, value, type, how, path);
  for (const json::key_value_pair& pair : value.get_object()) {
    const std::string below = path + "." + std::string(pair.key());
    if (!type.declares(pair.key())) {
      return fail(Errc::invalid, below + ": field not declared in schema");
    }
    FieldSet& child = set.children[field_step(pair.key())];
    if (auto done = add_fields(child, pair.value(), type.child(pair.key()), below); !done) {
      return done;
    }
  }
  return {};
}

json::value merge_values(const json::value* live, const json::value& applied,
                         const MergeType& type) {
  const How how = type.how(applied);
  if (live == nullptr || how == How::leaf || type.how(*live) != how) return applied;
  if (how == How::fields) {
    json::object made = live->get_object();
    for (const json::key_value_pair& pair : applied.get_object()) {
      const json::value* old = live->get_object().if_contains(pair.key());
      made[pair.key()] = merge_values(old, pair.value(), type.child(pair.key()));
    }
    return made;
  }
  const Items ours(&applied, type, how);
  const Items theirs(live, type, how);
  json::array made;
  for (const auto& [step, item] : theirs.list) {
    const json::value* mine = ours.find(step);
    made.push_back(mine == nullptr ? *item : merge_values(item, *mine, type.item()));
  }
  for (const auto& [step, item] : ours.list) {
    if (theirs.find(step) == nullptr) made.push_back(*item);
  }
  return made;
}

// Every place of `value`, with "." for objects, lists and items.
FieldSet all_of(const json::value& value, const MergeType& type) {
  FieldSet set{.member = true};
  const How how = type.how(value);
  if (how == How::fields) {
    for (const json::key_value_pair& pair : value.get_object()) {
      set.children.emplace(field_step(pair.key()), all_of(pair.value(), type.child(pair.key())));
    }
  } else if (how != How::leaf) {
    for (const auto& [step, item] : Items(&value, type, how).list) {
      set.children.emplace(step, all_of(*item, type.item()));
    }
  }
  return set;
}

struct Walk {
  FieldSet& added;
  FieldSet& modified;
  FieldSet& removed;
};

void compare_values(Walk out, const json::value* before, const json::value* after,
                    const MergeType& type);

void compare_child(Walk out, const std::string& step, const json::value* before,
                   const json::value* after, const MergeType& type) {
  FieldChanges below;
  compare_values({below.added, below.modified, below.removed}, before, after, type);
  if (!below.added.empty()) out.added.children.emplace(step, std::move(below.added));
  if (!below.modified.empty()) out.modified.children.emplace(step, std::move(below.modified));
  if (!below.removed.empty()) out.removed.children.emplace(step, std::move(below.removed));
}

void compare_objects(Walk out, const json::object& before, const json::object& after,
                     const MergeType& type) {
  for (const json::key_value_pair& pair : after) {
    compare_child(out, field_step(pair.key()), before.if_contains(pair.key()), &pair.value(),
                  type.child(pair.key()));
  }
  for (const json::key_value_pair& pair : before) {
    if (after.contains(pair.key())) continue;
    compare_child(out, field_step(pair.key()), &pair.value(), nullptr, type.child(pair.key()));
  }
}

void compare_lists(Walk out, const json::value* before, const json::value* after,
                   const MergeType& type, How how) {
  const Items old_items(before, type, how);
  const Items new_items(after, type, how);
  for (const auto& [step, item] : new_items.list) {
    compare_child(out, step, old_items.find(step), item, type.item());
  }
  for (const auto& [step, item] : old_items.list) {
    if (new_items.find(step) == nullptr) compare_child(out, step, item, nullptr, type.item());
  }
}

// A null list or object, as Go writes an empty one without omitempty, has no items.
void compare_values(Walk out, const json::value* before, const json::value* after,
                    const MergeType& type) {
  if (before == nullptr) {
    out.added = all_of(*after, type);
  } else if (after == nullptr) {
    out.removed = all_of(*before, type);
  } else if (*before != *after) {
    const How how = type.how(after->is_null() ? *before : *after);
    const bool fits = how != How::leaf && (before->is_null() || type.how(*before) == how);
    if (!fits) {
      out.modified.member = true;
    } else if (how == How::fields) {
      compare_objects(out, sync::wire::as_object(*before), sync::wire::as_object(*after), type);
    } else {
      compare_lists(out, before, after, type, how);
    }
  }
}

// Returns whether anything of `value` is left.
bool remove_below(json::value& value, const MergeType& type, const FieldSet& dropped,
                  const FieldSet& kept);

// Whether the child stays; removes from it what is to be removed.
bool keep_child(json::value& child, const MergeType& type, const FieldSet* dropped,
                const FieldSet* kept) {
  static const FieldSet nothing;
  if (dropped == nullptr) return true;
  if (dropped->member && kept == nullptr) return false;
  if (dropped->children.empty()) return true;
  return remove_below(child, type, *dropped, kept == nullptr ? nothing : *kept);
}

bool remove_below(json::value& value, const MergeType& type, const FieldSet& dropped,
                  const FieldSet& kept) {
  const How how = type.how(value);
  if (how == How::leaf) return true;
  if (how == How::fields) {
    json::object made;
    for (json::key_value_pair& pair : value.get_object()) {
      const std::string step = field_step(pair.key());
      const bool stays =
          keep_child(pair.value(), type.child(pair.key()), dropped.child(step), kept.child(step));
      if (stays) made.emplace(pair.key(), pair.value());
    }
    value = std::move(made);
    return !value.get_object().empty();
  }
  json::array made;
  for (json::value& item : value.get_array()) {
    const std::string step = item_step(item, type, how);
    if (keep_child(item, type.item(), dropped.child(step), kept.child(step))) made.push_back(item);
  }
  value = std::move(made);
  return !value.get_array().empty();
}

}  // namespace

Result<FieldSet> fields_of(const json::object& object, const MergeType& type) {
  FieldSet set;
  for (const json::key_value_pair& pair : object) {
    const std::string path = "." + std::string(pair.key());
    if (pair.key() == "kind" || pair.key() == "apiVersion") continue;
    if (!type.declares(pair.key())) {
      return fail(Errc::invalid, path + ": field not declared in schema");
    }
    FieldSet& child = set.children[field_step(pair.key())];
    if (auto done = add_fields(child, pair.value(), type.child(pair.key()), path); !done) {
      return fail(done.error().code, done.error().what);
    }
  }
  return set;
}

json::object merged(const json::object& live, const json::object& applied, const MergeType& type) {
  const json::value old(live);
  const json::value given(applied);
  json::value made = merge_values(&old, given, type);
  return std::move(made.get_object());
}

FieldChanges compare(const json::object& before, const json::object& after, const MergeType& type) {
  FieldChanges found;
  compare_objects({found.added, found.modified, found.removed}, before, after, type);
  return found;
}

void remove_fields(json::object& object, const MergeType& type, const FieldSet& dropped,
                   const FieldSet& kept) {
  json::value value(std::move(object));
  (void)remove_below(value, type, dropped, kept);
  object = std::move(value.get_object());
}

}  // namespace holdfast::agent::lab
