// Sets of fields of one object: the fieldsV1 of managedFields.
//
// A set is a tree. A step is written as upstream writes it: "f:name" for a field or map key,
// k:{"name":"a"} for an item of a list with keys, v:"x" for an item of a list that is a set.

#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::agent::lab {

struct FieldSet {
  bool member = false;  // the path to this place is in the set itself
  std::map<std::string, FieldSet, std::less<>> children = {};

  bool operator==(const FieldSet&) const = default;
  [[nodiscard]] bool empty() const { return !member && children.empty(); }
  // nullptr if no path of the set begins with `step`.
  [[nodiscard]] const FieldSet* child(std::string_view step) const;
};

// The union, the difference and the intersection. They have no empty children.
[[nodiscard]] FieldSet unite(FieldSet left, const FieldSet& right);
[[nodiscard]] FieldSet subtract(FieldSet left, const FieldSet& right);
[[nodiscard]] FieldSet intersect(const FieldSet& left, const FieldSet& right);

// {"f:metadata":{"f:labels":{".":{},"f:app":{}}}}, and back. Values that are no objects count as
// empty ones.
[[nodiscard]] boost::json::object to_fields_v1(const FieldSet& set);
[[nodiscard]] FieldSet from_fields_v1(const boost::json::object& fields);

// All paths as upstream prints them: `.spec.containers[name="a"].image`.
[[nodiscard]] std::vector<std::string> paths_of(const FieldSet& set);

// The steps.
[[nodiscard]] std::string field_step(std::string_view name);
[[nodiscard]] std::string value_step(const boost::json::value& value);
// The item's key; `keys` are the names of its fields. Go writes them sorted by name. A missing
// "protocol" is TCP, as in every kind that has this key; other missing keys are "".
[[nodiscard]] std::string key_step(const boost::json::object& item,
                                   const std::vector<std::string>& keys);

}  // namespace holdfast::agent::lab
