#include "agent/lab/rules/schema_protobuf.h"

#include <bit>
#include <boost/json.hpp>
#include <cmath>
#include <cstdint>

#include "platform/integers.h"
#include "sync/wire/json.h"
#include "sync/wire/read.h"
#include "sync/wire/utf8.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

constexpr std::size_t message_depth_max = 60;

struct WirePart {
  std::uint64_t number = 0;
  std::uint64_t value = 0;      // of a varint or a fixed64
  std::string_view bytes = {};  // of the others
};

Result<std::uint64_t> take_varint(std::string_view& rest) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !rest.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(rest.front());
    rest.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
    if ((byte & 0x80U) == 0) return value;
  }
  return fail(Errc::invalid, "protobuf of a schema: cut off");
}

Result<WirePart> take_part(std::string_view& rest) {
  TRY(const std::uint64_t tag, take_varint(rest));
  WirePart part{.number = tag >> 3};
  if ((tag & 7) == 0) {
    TRY(part.value, take_varint(rest));
    return part;
  }
  std::uint64_t length = (tag & 7) == 1 ? 8 : 0;
  if ((tag & 7) == 2) {
    TRY(length, take_varint(rest));
  } else if (length == 0) {
    return fail(Errc::invalid, "protobuf of a schema: illegal wire type");
  }
  if (length > rest.size()) return fail(Errc::invalid, "protobuf of a schema: cut off");
  part.bytes = rest.substr(0, to_size(length));
  rest.remove_prefix(part.bytes.size());
  for (std::size_t at = 0; (tag & 7) == 1 && at < 8; ++at) {
    part.value |= static_cast<std::uint64_t>(static_cast<unsigned char>(part.bytes[at]))
                  << (8 * at);
  }
  return part;
}

enum class SchemaPart : std::uint8_t {
  text,
  flag,
  whole,
  real,
  raw,
  raws,
  texts,
  schema,
  schemas,
  map,
  items,
  or_flag,
  skip
};
struct SchemaPartName {
  std::string_view name;
  SchemaPart kind;
};

// The fields of JSONSchemaProps by number.
constexpr SchemaPartName schema_parts[] = {
    {"", SchemaPart::skip},
    {"id", SchemaPart::text},
    {"$schema", SchemaPart::text},
    {"$ref", SchemaPart::text},
    {"description", SchemaPart::text},
    {"type", SchemaPart::text},
    {"format", SchemaPart::text},
    {"title", SchemaPart::text},
    {"default", SchemaPart::raw},
    {"maximum", SchemaPart::real},
    {"exclusiveMaximum", SchemaPart::flag},
    {"minimum", SchemaPart::real},
    {"exclusiveMinimum", SchemaPart::flag},
    {"maxLength", SchemaPart::whole},
    {"minLength", SchemaPart::whole},
    {"pattern", SchemaPart::text},
    {"maxItems", SchemaPart::whole},
    {"minItems", SchemaPart::whole},
    {"uniqueItems", SchemaPart::flag},
    {"multipleOf", SchemaPart::real},
    {"enum", SchemaPart::raws},
    {"maxProperties", SchemaPart::whole},
    {"minProperties", SchemaPart::whole},
    {"required", SchemaPart::texts},
    {"items", SchemaPart::items},
    {"allOf", SchemaPart::schemas},
    {"oneOf", SchemaPart::schemas},
    {"anyOf", SchemaPart::schemas},
    {"not", SchemaPart::schema},
    {"properties", SchemaPart::map},
    {"additionalProperties", SchemaPart::or_flag},
    {"patternProperties", SchemaPart::map},
    {"dependencies", SchemaPart::skip},
    {"additionalItems", SchemaPart::or_flag},
    {"definitions", SchemaPart::map},
    {"externalDocs", SchemaPart::skip},
    {"example", SchemaPart::raw},
    {"nullable", SchemaPart::flag},
    {"x-kubernetes-preserve-unknown-fields", SchemaPart::flag},
    {"x-kubernetes-embedded-resource", SchemaPart::flag},
    {"x-kubernetes-int-or-string", SchemaPart::flag},
    {"x-kubernetes-list-map-keys", SchemaPart::texts},
    {"x-kubernetes-list-type", SchemaPart::text},
    {"x-kubernetes-map-type", SchemaPart::text},
    {"x-kubernetes-validations", SchemaPart::raws},
};

json::array& list_at(json::object& in, std::string_view name) {
  json::value& value = in[name];
  if (!value.is_array()) value.emplace_array();
  return value.get_array();
}

Result<json::object> read_schema(std::string_view bytes, std::size_t depth);

// The last part with this number.
Result<WirePart> find_part(std::string_view bytes, std::uint64_t number) {
  WirePart found;
  while (!bytes.empty()) {
    TRY(const WirePart part, take_part(bytes));
    if (part.number == number) found = part;
  }
  return found;
}

// JSON inside a message; null if it is not JSON.
Result<json::value> read_inner_json(std::string_view bytes) {
  TRY(const WirePart raw, find_part(bytes, 1));
  auto value = sync::wire::parse_json(raw.bytes);
  return value ? *std::move(value) : json::value(nullptr);
}

json::value real_number(std::uint64_t bits) {
  const auto number = std::bit_cast<double>(bits);
  constexpr double exact = 9007199254740992.0;  // 2^53
  if (std::trunc(number) == number && std::abs(number) < exact) {
    return json::value(static_cast<std::int64_t>(number));
  }
  return json::value(number);
}

// JSONSchemaPropsOrArray and JSONSchemaPropsOrBool: the schema is field 1 or 2, the flag field 1.
Result<json::value> read_union(std::string_view bytes, std::uint64_t number, std::size_t depth) {
  bool has_schema = false;
  WirePart found;
  for (std::string_view rest = bytes; !rest.empty();) {
    TRY(const WirePart part, take_part(rest));
    if (part.number == number) {
      has_schema = true;
      found = part;
    } else if (part.number == 1 && !has_schema) {
      found = part;
    }
  }
  if (!has_schema) return json::value(found.value != 0);
  TRY(json::object schema, read_schema(found.bytes, depth + 1));
  return json::value(std::move(schema));
}

Status add_part(json::object& schema, const SchemaPartName& known, const WirePart& part,
                std::size_t depth) {
  switch (known.kind) {
    case SchemaPart::skip:
      return {};
    case SchemaPart::text:
    case SchemaPart::texts:
      if (!sync::wire::is_utf8(part.bytes)) return fail(Errc::invalid, "invalid UTF-8");
      if (known.kind == SchemaPart::texts) {
        list_at(schema, known.name).push_back(json::value(part.bytes));
      } else if (!part.bytes.empty()) {
        schema[known.name] = part.bytes;
      }
      return {};
    case SchemaPart::flag:
      if (part.value != 0) schema[known.name] = true;
      return {};
    case SchemaPart::whole:
      schema[known.name] = static_cast<std::int64_t>(part.value);
      return {};
    case SchemaPart::real:
      schema[known.name] = real_number(part.value);
      return {};
    case SchemaPart::raw:
    case SchemaPart::raws: {
      TRY(json::value value, read_inner_json(part.bytes));
      if (known.kind == SchemaPart::raws) {
        list_at(schema, known.name).push_back(std::move(value));
      } else {
        schema[known.name] = std::move(value);
      }
      return {};
    }
    case SchemaPart::schema:
    case SchemaPart::schemas: {
      TRY(json::object inner, read_schema(part.bytes, depth + 1));
      if (known.kind == SchemaPart::schemas) {
        list_at(schema, known.name).push_back(std::move(inner));
      } else {
        schema[known.name] = std::move(inner);
      }
      return {};
    }
    case SchemaPart::map: {
      TRY(const WirePart key, find_part(part.bytes, 1));
      TRY(const WirePart value, find_part(part.bytes, 2));
      if (!sync::wire::is_utf8(key.bytes)) return fail(Errc::invalid, "invalid UTF-8");
      TRY(json::object inner, read_schema(value.bytes, depth + 1));
      sync::wire::make_object(schema, {known.name})[key.bytes] = std::move(inner);
      return {};
    }
    case SchemaPart::items:
    case SchemaPart::or_flag: {
      const std::uint64_t number = known.kind == SchemaPart::items ? 1 : 2;
      TRY(schema[known.name], read_union(part.bytes, number, depth));
      return {};
    }
  }
  return {};
}

Result<json::object> read_schema(std::string_view bytes, std::size_t depth) {
  if (depth > message_depth_max) {
    return fail(Errc::exhausted, "a schema is nested too deeply");
  }
  json::object schema;
  while (!bytes.empty()) {
    TRY(const WirePart part, take_part(bytes));
    if (part.number >= std::size(schema_parts)) continue;
    if (auto done = add_part(schema, schema_parts[part.number], part, depth); !done) {
      return fail(done.error());
    }
  }
  return schema;
}

Status add_to_version(json::object& version, std::string_view bytes) {
  TRY(const WirePart validation, find_part(bytes, 4));
  TRY(const WirePart schema, find_part(validation.bytes, 1));
  if (schema.number != 0) {
    TRY(json::object read, read_schema(schema.bytes, 0));
    sync::wire::make_object(version, {"schema"})["openAPIV3Schema"] = std::move(read);
  }
  TRY(const WirePart subresources, find_part(bytes, 5));
  TRY(const WirePart status, find_part(subresources.bytes, 1));
  if (status.number != 0) {
    sync::wire::make_object(version, {"subresources"})["status"] = json::object();
  }
  return {};
}

}  // namespace

Status add_protobuf_schemas(json::object& crd, std::string_view bytes) {
  TRY(const WirePart spec, find_part(bytes, 2));
  json::value* versions = sync::wire::make_object(crd, {"spec"}).if_contains("versions");
  if (versions == nullptr || !versions->is_array()) return {};
  std::size_t place = 0;
  for (std::string_view rest = spec.bytes; !rest.empty();) {
    TRY(const WirePart part, take_part(rest));
    if (part.number != 7 || place >= versions->get_array().size()) continue;
    json::value& version = versions->get_array()[place++];
    if (!version.is_object()) continue;
    auto done = add_to_version(version.get_object(), part.bytes);
    if (!done) return done;
  }
  return {};
}

}  // namespace holdfast::agent::lab
