// The JSON schemas of a CustomResourceDefinition in protobuf.

#include "agent/lab/rules/schema_protobuf.h"

#include <boost/json.hpp>

#include "sync/wire/protobuf/cursor.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;
using sync::wire::append_wire;

std::string wire_message(int number, std::string_view bytes) {
  std::string out;
  append_wire(out, number, bytes);
  return out;
}

// A definition whose only version has this schema.
std::string definition_with(std::string_view schema) {
  return wire_message(2, wire_message(7, wire_message(4, wire_message(1, schema)) +
                                             wire_message(5, wire_message(1, ""))));
}

json::object one_version() {
  return json::parse(R"({"spec":{"versions":[{"name":"v1"}]}})").as_object();
}

TEST(SchemaProtobuf, IsReadAsJson) {
  std::string number = wire_message(5, "integer");
  number += std::string("\x59\x00\x00\x00\x00\x00\x00\xf0\x3f", 9);  // minimum: 1.0
  append_wire(number, 13, 7);                                        // maxLength
  const std::string list =
      wire_message(5, "array") + wire_message(24, wire_message(1, wire_message(5, "string")));
  std::string open = wire_message(5, "object");
  append_wire(open, 38, 1);
  const auto property = [](std::string_view name, std::string_view schema) {
    return wire_message(29, wire_message(1, name) + wire_message(2, schema));
  };
  const std::string schema =
      wire_message(5, "object") + wire_message(23, "n") + property("n", number) +
      property("l", list) + property("o", open) +
      property("d", wire_message(5, "string") + wire_message(8, wire_message(1, "\"x\"")) +
                        wire_message(20, wire_message(1, "\"x\"")));
  json::object crd = one_version();
  ASSERT_TRUE(add_protobuf_schemas(crd, definition_with(schema)));
  EXPECT_EQ(json::serialize(crd.at("spec").at("versions").at(0)),
            R"({"name":"v1","schema":{"openAPIV3Schema":{"type":"object","required":["n"],)"
            R"("properties":{"n":{"type":"integer","minimum":1,"maxLength":7},)"
            R"("l":{"type":"array","items":{"type":"string"}},)"
            R"("o":{"type":"object","x-kubernetes-preserve-unknown-fields":true},)"
            R"("d":{"type":"string","default":"x","enum":["x"]}}}},"subresources":{"status":{}}})");
}

TEST(SchemaProtobuf, BrokenOrDeepBytesAreRefused) {
  json::object crd = one_version();
  EXPECT_FALSE(add_protobuf_schemas(crd, "\x12\x7f"));
  EXPECT_FALSE(add_protobuf_schemas(crd, definition_with("\x2a\x05ob")));
  EXPECT_FALSE(add_protobuf_schemas(crd, definition_with("\x2b")));
  std::string deep = wire_message(5, "object");
  for (int level = 0; level < 100; ++level) deep = wire_message(28, deep);
  const auto refused = add_protobuf_schemas(crd, definition_with(deep));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().what, "a schema is nested too deeply");
}

}  // namespace
}  // namespace holdfast::agent::lab
