// What strategic merge patches must know of our kinds: which lists merge by which key, and which
// struct types the fields lead to. Taken from upstream's patchStrategy and patchMergeKey tags.
//
// Fields without a rule: structs merge, lists are replaced.

#pragma once

#include <cstdint>
#include <string_view>

namespace holdfast::sync {

struct PatchField {
  enum class How : std::uint8_t {
    descend,  // a struct, or a list that is replaced, of `of`
    merge,    // a list, merged by `key`; a list of scalars when `key` is empty
    replace,  // a struct that is replaced as a whole
  };

  std::string_view type;   // the Go type that has the field: "PodSpec"
  std::string_view field;  // its name in JSON: "containers"
  How how;
  std::string_view of;  // the type of the field or of the list's elements; "" when no rule needs it
  std::string_view key;  // of merge: the element's field that tells elements apart
  bool retains = false;  // a union: what a patch does not name in $retainKeys goes

  bool operator==(const PatchField&) const = default;
};

// nullptr when there is no rule.
[[nodiscard]] const PatchField* find_patch_field(std::string_view type, std::string_view field);

// Whether strategic merge patches are served for a kind; for others (custom resources) upstream
// answers 415. A kind is also the name of its type.
[[nodiscard]] bool has_patch_schema(std::string_view kind);

}  // namespace holdfast::sync
