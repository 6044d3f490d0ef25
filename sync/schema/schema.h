// The shape of every kind we serve: its fields in upstream's order, and what each of them is.
//
// Read once from the tables of sync/model, whose README describes them; the generator has checked
// them. Types live as long as the program.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::sync {

enum class Scalar : std::uint8_t {
  text,
  boolean,
  int32,
  int64,
  quantity,
  int_or_string,
  time,
  micro_time,
  bytes,
  any,      // JSON as it is; in protobuf inside a message, as Go's RawExtension
  strings,  // a list of texts; in protobuf a message around it, as Go's ExtraValue
  object,
};
enum class Shape : std::uint8_t { single, list, map };

struct StructType;

struct Field {
  std::string_view name;
  // What tells the items of a list apart: "port,protocol"; the merge key is the first.
  std::string_view keys = {};
  const StructType* type = nullptr;  // with Scalar::object
  Scalar scalar = Scalar::text;
  Shape shape = Shape::single;
  bool pointer = false;
  bool omit_empty = false;
  bool merge = false;    // strategic merge patch merges the list, by its merge key if it has one
  bool replace = false;  // strategic merge patch replaces the struct as a whole
  bool retain_keys = false;  // a union: what a patch does not name in $retainKeys is removed
  std::uint8_t inside = 0;   // the number of the embedded message that has it; 0: the type itself
  std::uint16_t number = 0;  // in protobuf; 0: not there

  // The key that strategic merge patches merge the list by; "" for scalars and without `merge`.
  [[nodiscard]] std::string_view merge_key() const {
    return merge ? keys.substr(0, keys.find(',')) : std::string_view();
  }
};

struct StructType {
  std::string_view name;
  bool is_kind = false;
  std::vector<Field> fields;

  // Nullptr when there is no such field.
  [[nodiscard]] const Field* field(std::string_view field_name) const;
};

// Nullptr when there is no such type. Types live for ever.
[[nodiscard]] const StructType* find_type(std::string_view name);
// One that the tables have; anything else is a broken invariant.
[[nodiscard]] const StructType& known_type(std::string_view name);

// Every type, in the order of the tables.
[[nodiscard]] std::span<const StructType> all_types();

// Go's name of a scalar, as error messages have it: "string", "int32", "resource.Quantity".
[[nodiscard]] std::string_view go_name(Scalar scalar);

}  // namespace holdfast::sync
