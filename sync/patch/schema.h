// What strategic merge patches must know of our kinds: which lists merge by which key, and which
// types the fields lead to. It comes from the tables of sync/model.
//
// Fields that the tables do not have: structs merge, lists are replaced.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "sync/schema/schema.h"

namespace holdfast::sync {

struct PatchField {
  enum class How : std::uint8_t {
    plain,    // a struct is merged, a list or scalar is replaced
    merge,    // a list, merged by `key`; a list of scalars when `key` is empty
    replace,  // a struct that is replaced as a whole
  };

  std::string_view type;   // the Go type that has the field: "PodSpec"
  std::string_view field;  // its name in JSON: "containers"
  How how = How::plain;
  const StructType* of = nullptr;  // of the field or of the list's elements; nullptr: a scalar
  std::string_view key = {};       // of merge: the element's field that tells elements apart
  bool retains = false;            // a union: what a patch does not name in $retainKeys is removed
};

// Nothing when `type` is nullptr or has no such field.
[[nodiscard]] std::optional<PatchField> find_patch_field(const StructType* type,
                                                         std::string_view field);

// Whether strategic merge patches are served for a kind; for others (custom resources) upstream
// answers 415. A kind is also the name of its type.
[[nodiscard]] bool has_patch_schema(std::string_view kind);

}  // namespace holdfast::sync
