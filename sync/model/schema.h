// The schema of every supported kind: its fields in upstream's order, with their types.
//
// It is read once from the tables of sync/model, whose README describes them; the generator has
// checked them. Types are valid as long as the program runs.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::sync::inline model {

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
  any,      // any JSON; in protobuf inside a message (Go's RawExtension)
  strings,  // a list of strings; in protobuf inside a message (Go's ExtraValue)
  object,
};
enum class Shape : std::uint8_t { single, list, map };

struct StructType;

struct Field {
  std::string_view name;
  // The fields that identify an item of a list: "port,protocol"; the merge key is the first.
  std::string_view keys = {};
  const StructType* type = nullptr;  // only for Scalar::object
  Scalar scalar = Scalar::text;
  Shape shape = Shape::single;
  bool pointer = false;
  bool omit_empty = false;
  bool merge = false;    // strategic merge patches merge the list, by its merge key if it has one
  bool replace = false;  // strategic merge patches replace the struct as a whole
  bool retain_keys = false;  // a union: a patch removes fields that are not in $retainKeys
  std::uint8_t inside = 0;   // number of the embedded message that has the field; 0: none
  std::uint16_t number = 0;  // in protobuf; 0: not in protobuf

  // The key by which strategic merge patches merge the list; "" for scalars and without `merge`.
  [[nodiscard]] std::string_view merge_key() const {
    return merge ? keys.substr(0, keys.find(',')) : std::string_view();
  }
};

struct StructType {
  std::string_view name;
  bool is_kind = false;
  std::vector<Field> fields;

  // nullptr if there is no such field.
  [[nodiscard]] const Field* field(std::string_view field_name) const;
};

// nullptr if there is no such type.
[[nodiscard]] const StructType* find_type(std::string_view name);
// A type that must be in the tables (checked).
[[nodiscard]] const StructType& known_type(std::string_view name);

// Every type, in the order of the tables.
[[nodiscard]] std::span<const StructType> all_types();

// Go's name of a scalar in error messages: "string", "int32", "resource.Quantity".
[[nodiscard]] std::string_view go_name(Scalar scalar);

}  // namespace holdfast::sync::inline model
