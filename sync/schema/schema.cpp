#include "sync/schema/schema.h"

#include <map>
#include <utility>

#include "embedded/schema_tables.h"
#include "platform/check.h"
#include "platform/text.h"

namespace holdfast::sync {
namespace {

constexpr std::pair<std::string_view, Scalar> scalars[] = {
    {"string", Scalar::text}, {"bool", Scalar::boolean},      {"int", Scalar::int32},
    {"long", Scalar::int64},  {"quantity", Scalar::quantity}, {"intstr", Scalar::int_or_string},
    {"time", Scalar::time},   {"micro", Scalar::micro_time},  {"bytes", Scalar::bytes},
    {"any", Scalar::any},
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
    return;
  }
  for (std::string_view part : split(mark, ',')) {
    if (part == "retainKeys") {
      field.retain_keys = true;
    } else {
      CHECK(take(part, "merge"));
      field.merge = true;
      if (take(part, ":")) field.merge_key = part;
    }
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

std::pair<std::string_view, std::string_view> cut_doc(std::string_view line) {
  const std::size_t colon = line.find(" : ");
  if (colon == std::string_view::npos) return {line, {}};
  return {line.substr(0, colon), line.substr(colon + 3)};
}

void read_line(Tables& tables, std::vector<Pending>& pending, std::string_view line) {
  const auto [words_text, doc] = cut_doc(line);
  if (!line.starts_with(' ')) {
    tables.types.push_back({trim(words_text), doc, {}});
    return;
  }
  CHECK(!tables.types.empty());
  const std::vector<std::string_view> words = split(trim(words_text), ' ');
  CHECK(words.size() >= 2);
  Field field;
  field.name = words[0];
  field.doc = doc;
  const std::string_view wanted = read_type(field, words[1]);
  for (std::size_t at = 2; at < words.size(); ++at) read_mark(field, words[at]);
  std::vector<Field>& fields = tables.types.back().fields;
  if (!wanted.empty()) pending.push_back({tables.types.size() - 1, fields.size(), wanted});
  fields.push_back(field);
}

Tables read_tables() {
  Tables tables;
  std::vector<Pending> pending;
  for (const std::string_view text : {embedded::meta_txt, embedded::core_txt, embedded::pod_txt,
                                      embedded::volumes_txt, embedded::groups_txt}) {
    for (const std::string_view line : split(text, '\n')) {
      if (!line.empty() && !line.starts_with('#')) read_line(tables, pending, line);
    }
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
    case Scalar::object:
      return "struct";
  }
  UNREACHABLE();
}

}  // namespace holdfast::sync
