#include "sync/schema/schema.h"

#include <map>
#include <utility>

#include "platform/check.h"
#include "platform/text.h"
#include "sync/model/tables.h"

namespace holdfast::sync {
namespace {

constexpr std::pair<std::string_view, Scalar> scalars[] = {
    {"string", Scalar::text}, {"bool", Scalar::boolean},      {"int", Scalar::int32},
    {"long", Scalar::int64},  {"quantity", Scalar::quantity}, {"intstr", Scalar::int_or_string},
    {"time", Scalar::time},   {"micro", Scalar::micro_time},  {"bytes", Scalar::bytes},
    {"any", Scalar::any},     {"strings", Scalar::strings},
};

struct Pending {
  std::size_t type;
  std::size_t field;
  std::string_view wanted;
};

struct Tables {
  std::vector<StructType> types;
  std::map<std::string_view, const StructType*> by_name;
};

bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

void read_number(Field& field, std::string_view text) {
  const std::size_t dot = text.find('.');
  if (dot != std::string_view::npos) {
    field.inside = parse_int<int>(text.substr(0, dot)).value_or(0);
    text.remove_prefix(dot + 1);
  }
  field.number = parse_int<int>(text).value_or(0);
  CHECK(field.number > 0);
}

void read_mark(Field& field, std::string_view mark) {
  if (take(mark, "=")) {
    read_number(field, mark);
  } else if (mark == "retainKeys") {
    field.retain_keys = true;
  } else if (mark == "replace") {
    field.replace = true;
  } else if (take(mark, "keys:")) {
    field.keys = mark;
  } else {
    CHECK(take(mark, "merge"));
    field.merge = true;
    if (take(mark, ":")) field.merge_key = mark;
  }
}

// Reads the type of a field; returns the name of its struct when it is one.
std::string_view read_type(Field& field, std::string_view text) {
  if (text.ends_with('?')) {
    field.omit_empty = true;
    text.remove_suffix(1);
  }
  if (take(text, "*")) field.pointer = true;
  if (take(text, "[]")) field.shape = Shape::list;
  if (take(text, "{}")) field.shape = Shape::map;
  for (const auto& [name, scalar] : scalars) {
    if (name != text) continue;
    field.scalar = scalar;
    return {};
  }
  field.scalar = Scalar::object;
  return text;
}

void read_line(Tables& tables, std::vector<Pending>& pending, std::string_view line) {
  const bool is_field = take(line, " ");
  const std::vector<std::string_view> words = split(line, ' ');
  if (!is_field) {
    tables.types.push_back({words[0], words.size() > 1, {}});
    return;
  }
  CHECK(!tables.types.empty() && words.size() >= 2);
  Field field;
  field.name = words[0];
  const std::string_view wanted = read_type(field, words[1]);
  for (std::size_t at = 2; at < words.size(); ++at) read_mark(field, words[at]);
  std::vector<Field>& fields = tables.types.back().fields;
  if (!wanted.empty()) pending.push_back({tables.types.size() - 1, fields.size(), wanted});
  fields.push_back(field);
}

Tables read_tables() {
  Tables tables;
  std::vector<Pending> pending;
  for (const std::string_view line : split(model::tables, '\n')) {
    if (!line.empty()) read_line(tables, pending, line);
  }
  for (const StructType& type : tables.types) {
    CHECK(tables.by_name.emplace(type.name, &type).second);
  }
  for (const Pending& reference : pending) {
    const auto found = tables.by_name.find(reference.wanted);
    CHECK(found != tables.by_name.end());
    tables.types[reference.type].fields[reference.field].type = found->second;
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

}  // namespace holdfast::sync
