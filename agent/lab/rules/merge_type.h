// How the parts of an object are merged and owned by server-side apply: the list and map types.
//
// The types of built-in kinds come from the tables of sync/model, those of custom resources from
// their JSON schema. Without a schema, objects are merged field by field and lists are replaced.

#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sync/model/schema.h"

namespace holdfast::agent::lab {

class MergeType {
 public:
  enum class How : std::uint8_t {
    leaf,    // a scalar, or a list or object that is owned as a whole
    fields,  // an object or map whose fields are owned one by one
    keyed,   // a list whose items are identified by keys()
    set,     // a list of scalars without duplicates
  };

  // A kind of the tables.
  [[nodiscard]] static MergeType of(const sync::StructType& type);
  // A custom resource: its schema (borrowed), or nullptr if it has none.
  [[nodiscard]] static MergeType of_custom(const boost::json::object* schema);

  // How `value`, which has this type, is merged.
  [[nodiscard]] How how(const boost::json::value& value) const;
  // The type of a field or of a map's value.
  [[nodiscard]] MergeType child(std::string_view name) const;
  // Whether an object of this type may have this field.
  [[nodiscard]] bool declares(std::string_view name) const;
  // The type of a list's items.
  [[nodiscard]] MergeType item() const;
  // Whether a key that an item lacks has a default. In built-in kinds all have.
  [[nodiscard]] bool has_default_keys() const { return source_ == Source::field; }
  // The fields that identify an item of a list with keys.
  [[nodiscard]] std::vector<std::string> keys() const;

 private:
  enum class Source : std::uint8_t { untyped, structure, field, schema, custom_root };

  [[nodiscard]] How field_how() const;
  [[nodiscard]] How schema_how(const boost::json::value& value) const;

  Source source_ = Source::untyped;
  const sync::StructType* type_ = nullptr;
  const sync::Field* field_ = nullptr;  // with its shape
  bool inside_ = false;                 // the element of `field_`'s list or map
  bool atomic_ = false;
  const boost::json::object* schema_ = nullptr;
};

}  // namespace holdfast::agent::lab
