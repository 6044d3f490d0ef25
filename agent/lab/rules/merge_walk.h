// The operations of server-side apply on one object: what a configuration sets, the merge of it
// into the live object, what differs between two objects, and the removal of fields.

#pragma once

#include <boost/json/object.hpp>

#include "agent/lab/rules/field_set.h"
#include "agent/lab/rules/merge_type.h"
#include "platform/result.h"

namespace holdfast::agent::lab {

// The fields that `object` sets.
// Errors: invalid (a field that the type does not have, an item without its key, a duplicate item),
// with the path: ".spec.x: field not declared in schema".
[[nodiscard]] Result<FieldSet> fields_of(const boost::json::object& object, const MergeType& type);

// `live` with the fields of `applied`. New items of a list follow those that it has.
[[nodiscard]] boost::json::object merged(const boost::json::object& live,
                                         const boost::json::object& applied, const MergeType& type);

struct FieldChanges {
  FieldSet added;
  FieldSet modified;
  FieldSet removed;

  [[nodiscard]] bool same() const { return added.empty() && modified.empty() && removed.empty(); }
};
[[nodiscard]] FieldChanges compare(const boost::json::object& before,
                                   const boost::json::object& after, const MergeType& type);

// Removes from `object` what `dropped` has and `kept` does not. An item of a list stays while
// anything in it is kept; an object or list that becomes empty is removed.
void remove_fields(boost::json::object& object, const MergeType& type, const FieldSet& dropped,
                   const FieldSet& kept);

}  // namespace holdfast::agent::lab
