#include "sync/model/schema.h"

#include <map>
#include <utility>

#include "platform/check.h"
#include "platform/text.h"
#include "sync/model/tables.h"

namespace holdfast::sync::inline model {
namespace {

// The format of generated::tables is described in sync/model/emit_tables.py.

constexpr std::pair<char, Scalar> scalars[] = {
    {'s', Scalar::text},  {'b', Scalar::boolean},    {'i', Scalar::int32},
    {'l', Scalar::int64}, {'q', Scalar::quantity},   {'n', Scalar::int_or_string},
    {'t', Scalar::time},  {'u', Scalar::micro_time}, {'y', Scalar::bytes},
    {'a', Scalar::any},   {'x', Scalar::strings},
};

struct Tables {
  std::vector<StructType> types;
  std::map<std::string_view, const StructType*> by_name;
};

bool take(std::string_view& text, char first) {
  if (!text.starts_with(first)) return false;
  text.remove_prefix(1);
  return true;
}

template <class Integer>
Integer read_integer(std::string_view text) {
  const auto number = parse_int<Integer>(text);
  CHECK(number.has_value());
  return *number;
}

void read_number(Field& field, std::string_view text) {
  const std::size_t dot = text.find('.');
  if (dot != std::string_view::npos) {
    field.inside = static_cast<std::uint8_t>(read_integer<int>(text.substr(0, dot)));
    text.remove_prefix(dot + 1);
  }
  field.number = static_cast<std::uint16_t>(read_integer<int>(text));
}

void read_mark(Field& field, std::string_view mark) {
  if (take(mark, ':')) {
    field.keys = mark;
  } else if (mark == "m") {
    field.merge = true;
  } else if (mark == "r") {
    field.replace = true;
  } else {
    CHECK(mark == "R");
    field.retain_keys = true;
  }
}

void read_type(Field& field, std::string_view text, const std::vector<StructType>& types) {
  if (text.ends_with('?')) {
    field.omit_empty = true;
    text.remove_suffix(1);
  }
  if (take(text, '*')) field.pointer = true;
  if (take(text, '[')) field.shape = Shape::list;
  if (take(text, '{')) field.shape = Shape::map;
  for (const auto& [letter, scalar] : scalars) {
    if (text.front() != letter) continue;
    field.scalar = scalar;
    return;
  }
  field.scalar = Scalar::object;
  const auto place = read_integer<std::size_t>(text);
  CHECK(place < types.size());
  field.type = &types[place];
}

Field read_field(std::string_view line, const std::vector<StructType>& types) {
  const std::vector<std::string_view> words = split(line, ' ');
  CHECK(words.size() >= 3);
  Field field;
  field.name = words[0];
  read_type(field, words[1], types);
  read_number(field, words[2]);
  for (std::size_t at = 3; at < words.size(); ++at) read_mark(field, words[at]);
  return field;
}

Tables read_tables() {
  Tables tables;
  const std::vector<std::string_view> lines = split(generated::tables, '\n');
  // Create all types first, because fields point to them.
  for (std::string_view line : lines) {
    if (line.empty() || line.starts_with(' ')) continue;
    const bool is_kind = line.ends_with('!');
    if (is_kind) line.remove_suffix(1);
    tables.types.push_back({line, is_kind, {}});
  }
  std::size_t next = 0;
  for (std::string_view line : lines) {
    if (take(line, ' ')) {
      tables.types[next - 1].fields.push_back(read_field(line, tables.types));
    } else if (!line.empty()) {
      ++next;
    }
  }
  for (StructType& type : tables.types) {
    type.fields.shrink_to_fit();
    CHECK(tables.by_name.emplace(type.name, &type).second);
  }
  return tables;
}

const Tables& tables() {
  static const Tables all = read_tables();
  return all;
}

}  // namespace

const Field* StructType::field(std::string_view field_name) const {
  for (const Field& candidate : fields) {
    if (candidate.name == field_name) return &candidate;
  }
  return nullptr;
}

const StructType* find_type(std::string_view name) {
  const auto& index = tables().by_name;
  const auto found = index.find(name);
  return found == index.end() ? nullptr : found->second;
}

const StructType& known_type(std::string_view name) {
  const StructType* type = find_type(name);
  CHECK(type != nullptr);
  return *type;
}

std::span<const StructType> all_types() { return tables().types; }

std::string_view go_name(Scalar scalar) {
  switch (scalar) {
    case Scalar::text:
      return "string";
    case Scalar::boolean:
      return "bool";
    case Scalar::int32:
      return "int32";
    case Scalar::int64:
      return "int64";
    case Scalar::quantity:
      return "resource.Quantity";
    case Scalar::int_or_string:
      return "intstr.IntOrString";
    case Scalar::time:
      return "v1.Time";
    case Scalar::micro_time:
      return "v1.MicroTime";
    case Scalar::bytes:
      return "[]uint8";
    case Scalar::any:
      return "interface {}";
    case Scalar::strings:
      return "[]string";
    case Scalar::object:
      return "struct";
  }
  UNREACHABLE();
}

}  // namespace holdfast::sync::inline model
