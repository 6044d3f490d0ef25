#include "agent/lab/rules/openapi_v2.h"

#include <boost/json.hpp>

#include "agent/lab/rules/openapi_schema.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

// A protobuf message under construction. Only fields with a length are needed.
class Message {
 public:
  Message& add(unsigned number, std::string_view bytes) {
    put(number << 3 | 2);
    put(bytes.size());
    bytes_ += bytes;
    return *this;
  }
  Message& add(unsigned number, const Message& message) { return add(number, message.bytes_); }

  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  void put(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

// Field numbers of gnostic's openapi.v2.Schema.
enum SchemaField : unsigned {
  field_ref = 1,
  field_format = 2,
  field_description = 4,
  field_required = 19,
  field_additional_properties = 21,
  field_type = 22,
  field_items = 23,
  field_properties = 25,
  field_vendor_extension = 31,
};

Message schema_message(const json::object& schema);

// The messages Properties and Definitions: named schemas as field 1.
Message named_schemas(const json::object& schemas) {
  Message all;
  for (const auto& pair : schemas) {
    Message named;
    named.add(1, pair.key()).add(2, schema_message(sync::wire::as_object(pair.value())));
    all.add(1, named);
  }
  return all;
}

Message extension(std::string_view name, const json::value& value) {
  // The value must be YAML; JSON is valid YAML.
  Message any;
  any.add(2, json::serialize(value));
  Message named;
  named.add(1, name).add(2, any);
  return named;
}

Message schema_message(const json::object& schema) {
  Message message;
  const std::pair<std::string_view, unsigned> texts[] = {
      {"$ref", field_ref}, {"format", field_format}, {"description", field_description}};
  for (const auto& [name, number] : texts) {
    const std::string_view text = sync::wire::dig_text(schema, {name});
    if (!text.empty()) message.add(number, text);
  }
  for (const json::value& name : sync::wire::dig_list(schema, {"required"})) {
    message.add(field_required, sync::wire::as_text(name));
  }
  if (schema.contains("additionalProperties")) {
    Message item;
    item.add(1, schema_message(sync::wire::dig_object(schema, {"additionalProperties"})));
    message.add(field_additional_properties, item);
  }
  if (schema.contains("type")) {
    Message type;
    type.add(1, sync::wire::dig_text(schema, {"type"}));
    message.add(field_type, type);
  }
  if (schema.contains("items")) {
    Message items;
    items.add(1, schema_message(sync::wire::dig_object(schema, {"items"})));
    message.add(field_items, items);
  }
  if (schema.contains("properties")) {
    message.add(field_properties, named_schemas(sync::wire::dig_object(schema, {"properties"})));
  }
  for (const auto& pair : schema) {
    if (!pair.key().starts_with("x-")) continue;
    message.add(field_vendor_extension, extension(pair.key(), pair.value()));
  }
  return message;
}

json::object make_document() {
  json::object definitions;
  for (const sync::printing::Resource& resource : sync::printing::all_resources()) {
    for (const sync::printing::ServedVersion& version : resource.versions) {
      add_kind(definitions, resource, version, OpenapiStyle::v2);
    }
  }
  json::object document = {{"swagger", "2.0"}};
  document["info"] = json::object{{"title", "holdfast-lab"}, {"version", "v1"}};
  document["paths"] = json::object();
  document["definitions"] = std::move(definitions);
  return document;
}

std::string to_protobuf(const json::object& document) {
  Message info;
  info.add(1, sync::wire::dig_text(document, {"info", "title"}))
      .add(2, sync::wire::dig_text(document, {"info", "version"}));
  Message all;
  all.add(1, sync::wire::dig_text(document, {"swagger"})).add(2, info).add(8, Message());
  all.add(9, named_schemas(sync::wire::dig_object(document, {"definitions"})));
  return all.bytes();
}

}  // namespace

const json::object& openapi_v2_document() {
  static const json::object document = make_document();
  return document;
}

const std::string& openapi_v2_protobuf() {
  static const std::string bytes = to_protobuf(openapi_v2_document());
  return bytes;
}

json::object openapi_v2_document(const Catalog& catalog) {
  json::object document = openapi_v2_document();
  json::object& definitions = document["definitions"].get_object();
  for (const auto& custom : catalog.customs()) {
    for (const sync::printing::ServedVersion& version : custom->versions) {
      if (!custom->serves(version.name)) continue;
      add_custom_kind(definitions, *custom, version, OpenapiStyle::v2);
    }
  }
  return document;
}

std::string openapi_v2_protobuf(const Catalog& catalog) {
  if (catalog.customs().empty()) return openapi_v2_protobuf();
  return to_protobuf(openapi_v2_document(catalog));
}

}  // namespace holdfast::agent::lab
