// The shape of every kind we serve: its fields in upstream's order, and what each of them is.
//
// The tables are the texts under tables/. A line without indentation opens a type:
//     Name : what it is
// An indented line is a field:
//     name TYPE[?] [=NUMBER] [merge[:KEY][,retainKeys] | retainKeys] [: what it is]
// TYPE is string, bool, int, long, quantity, intstr, time, micro, bytes, any or another type's
// name, with "[]" (list), "{}" (map from string) or "*" (may be absent) in front. "?" is Go's
// omitempty: a zero value is not written; without it the zero value is. NUMBER is the field's in
// protobuf; "2.1" is field 1 of the message that Go embeds as field 2 and JSON does not show.

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
  any,
  object,
};
enum class Shape : std::uint8_t { single, list, map };

struct StructType;

struct Field {
  std::string_view name;
  Scalar scalar = Scalar::text;
  const StructType* type = nullptr;  // with Scalar::object
  Shape shape = Shape::single;
  bool pointer = false;
  bool omit_empty = false;
  bool merge = false;  // strategic merge patch merges the list, by merge_key if not empty
  std::string_view merge_key = {};
  bool retain_keys = false;
  int number = 0;  // in protobuf; 0: not there
  int inside = 0;  // the number of the embedded message that has it; 0: the type itself
  std::string_view doc = {};
};

struct StructType {
  std::string_view name;
  std::string_view doc;
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
