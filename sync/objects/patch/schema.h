// The schema information that strategic merge patches need: which lists are merged by which key,
// and the types of fields. It comes from the tables of sync/model.
//
// For fields that are not in the tables, structs are merged and lists replaced.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "sync/model/schema.h"

namespace holdfast::sync::objects {

struct PatchField {
  enum class How : std::uint8_t {
    plain,    // a struct is merged, a list or scalar is replaced
    merge,    // a list is merged by `key`, or by value if `key` is empty (scalars)
    replace,  // a struct is replaced as a whole
  };

  std::string_view type;   // the Go type that has the field: "PodSpec"
  std::string_view field;  // its name in JSON: "containers"
  How how = How::plain;
  const StructType* of = nullptr;  // type of the field or list elements; nullptr: a scalar
  std::string_view key = {};       // for merge: the field that identifies an element
  bool retains = false;            // a union: a patch removes fields not named in $retainKeys
};

// Returns nothing if `type` is nullptr or has no such field.
[[nodiscard]] std::optional<PatchField> find_patch_field(const StructType* type,
                                                         std::string_view field);

// Whether strategic merge patches are supported for a kind; for others (custom resources) upstream
// responds 415. A kind is also the name of its type.
[[nodiscard]] bool has_patch_schema(std::string_view kind);

}  // namespace holdfast::sync::objects
