#include "sync/objects/patch/strategic_list.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace holdfast::sync::objects::strategic {
namespace {

std::string printed_object(const json::object& object) {
  std::vector<std::string> fields;
  for (const auto& field : object) {
    fields.push_back(std::string(field.key()) + ":" + printed(field.value()));
  }
  std::sort(fields.begin(), fields.end());
  std::string out = "map[";
  for (const std::string& field : fields) {
    if (out.size() > 4) out += ' ';
    out += field;
  }
  return out += ']';
}

std::string printed_array(const json::array& array) {
  std::string out = "[";
  for (const json::value& item : array) {
    if (out.size() > 1) out += ' ';
    out += printed(item);
  }
  return out += ']';
}

std::string_view type_name(const json::value& value) {
  switch (value.kind()) {
    case json::kind::null:
      return "%!s(<nil>)";
    case json::kind::bool_:
      return "bool";
    case json::kind::int64:
    case json::kind::uint64:
      return "int64";
    case json::kind::double_:
      return "float64";
    case json::kind::string:
      return "string";
    case json::kind::array:
      return "[]interface {}";
    case json::kind::object:
      return "map[string]interface {}";
  }
  return "";
}

const json::value* key_of(const json::value& element, std::string_view key) {
  const json::object* object = element.if_object();
  return object != nullptr ? object->if_contains(key) : nullptr;
}

// The elements of `list` that are (or are not) in `index`, sorted by their position in `order`.
std::vector<json::value> sorted_part(const json::array& list, const ListIndex& index, bool in,
                                     const ListIndex& order) {
  std::vector<json::value> part;
  for (const json::value& element : list) {
    if (index.has(element) == in) part.push_back(element);
  }
  std::stable_sort(part.begin(), part.end(), [&order](const auto& left, const auto& right) {
    return order.find(left) < order.find(right);
  });
  return part;
}

}  // namespace

std::string printed(const json::value& value) {
  if (value.is_null()) return "<nil>";
  if (value.is_string()) return std::string(value.get_string());
  if (const json::object* object = value.if_object()) return printed_object(*object);
  if (const json::array* array = value.if_array()) return printed_array(*array);
  return wire::serialize(value);
}

Error no_merge_key(const json::value& element, std::string_view key) {
  return {Errc::corrupt,
          "map: " + printed(element) + " does not contain declared merge key: " + std::string(key)};
}

Error bad_type(std::string_view wanted, const json::value& got) {
  return {Errc::corrupt, std::string("expected a ").append(wanted).append(", but received a ") +
                             std::string(type_name(got))};
}

ListIndex::ListIndex(const json::array& list, std::string_view key) : key_(key) {
  positions_.reserve(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) add(list[i], i);
}

std::size_t ListIndex::find(const json::value& element) const {
  const auto found = positions_.find(identity(element));
  return found == positions_.end() ? npos : found->second;
}

void ListIndex::add(const json::value& element, std::size_t position) {
  positions_.emplace(identity(element), position);
}

std::string ListIndex::identity(const json::value& element) const {
  if (key_.empty()) return wire::serialize(element);
  const json::value* key = key_of(element, key_);
  return key != nullptr ? wire::serialize(*key) : std::string();
}

Result<Elements> elements_of(const json::array& one, const json::array& other) {
  Elements seen = Elements::none;
  json::kind kind = json::kind::null;
  for (const json::array* list : {&one, &other}) {
    for (const json::value& item : *list) {
      if (item.is_array()) return fail(Errc::invalid, "lists of lists are not supported");
      const json::kind here = item.is_uint64() ? json::kind::int64 : item.kind();
      if (seen != Elements::none && here != kind) {
        return fail(Errc::corrupt, "list element types are not identical: [" + printed(one) + " " +
                                       printed(other) + "]");
      }
      kind = here;
      seen = item.is_object() ? Elements::objects : Elements::scalars;
    }
  }
  return seen;
}

json::array in_order(json::array merged, const json::array& wanted, const json::array& before,
                     std::string_view key) {
  const ListIndex wanted_at(wanted, key);
  const ListIndex before_at(before, key);
  auto patched = sorted_part(merged, wanted_at, true, wanted_at);
  auto others = sorted_part(merged, wanted_at, false, before_at);

  json::array all;
  all.reserve(merged.size());
  auto right = patched.begin();
  auto left = others.begin();
  while (left != others.end() || right != patched.end()) {
    bool take_left = right == patched.end();
    if (!take_left && left != others.end()) {
      const std::size_t left_at = before_at.find(*left);
      const std::size_t right_at = before_at.find(*right);
      take_left = left_at != ListIndex::npos && right_at != ListIndex::npos && left_at < right_at;
    }
    all.push_back(std::move(take_left ? *left++ : *right++));
  }
  return all;
}

json::array united(const json::array& before, const json::array& patch) {
  json::array all;
  ListIndex seen(all, {});
  for (const json::array* list : {&before, &patch}) {
    for (const json::value& item : *list) {
      if (seen.has(item)) continue;
      seen.add(item, all.size());
      all.push_back(item);
    }
  }
  return all;
}

json::array without(const json::array& before, const json::array& patch) {
  const ListIndex unwanted(patch, {});
  json::array rest;
  for (const json::value& item : before) {
    if (!unwanted.has(item)) rest.push_back(item);
  }
  return rest;
}

Status take_directives(json::array& before, json::array& patch, std::string_view key) {
  json::array plain;
  json::array deleted;
  bool replace = false;
  for (json::value& element : patch) {
    const json::value* what = element.get_object().if_contains(directive);
    if (what == nullptr) {
      plain.push_back(std::move(element));
    } else if (*what == json::value("delete")) {
      if (key_of(element, key) == nullptr) return fail(no_merge_key(element, key));
      deleted.push_back(std::move(element));
    } else if (*what == json::value("replace")) {
      replace = true;
    } else if (*what == json::value("merge")) {
      return fail(Errc::corrupt, "merging lists cannot yet be specified in the patch");
    } else {
      return fail(Errc::corrupt,
                  "unknown patch type: " + printed(*what) + " in map: " + printed(element));
    }
  }
  if (!deleted.empty()) {
    const ListIndex unwanted(deleted, key);
    json::array kept;
    for (json::value& element : before) {
      if (key_of(element, key) == nullptr || !unwanted.has(element)) {
        kept.push_back(std::move(element));
      }
    }
    before = std::move(kept);
  }
  if (replace) {
    before = std::exchange(plain, {});
  }
  patch = std::move(plain);
  return {};
}

Status check_order(const json::array& patch, const json::array& order, std::string_view key) {
  if (patch.empty() || order.empty()) return {};
  const ListIndex position(order, key);
  std::size_t next = 0;
  for (const json::value& element : patch) {
    const json::object* object = element.if_object();
    if (object != nullptr && object->contains(directive)) continue;
    if (!key.empty() && key_of(element, key) == nullptr) return fail(no_merge_key(element, key));
    const std::size_t at = position.find(element);
    if (at == ListIndex::npos || at < next) {
      return fail(Errc::corrupt, "The order in patch list:\n" + printed(patch) +
                                     "\n doesn't match $setElementOrder list:\n" + printed(order) +
                                     "\n");
    }
    next = at;
  }
  return {};
}

}  // namespace holdfast::sync::objects::strategic
