// Conversion between protobuf and JSON by the schema.

#include "sync/objects/protobuf.h"

#include <boost/json.hpp>

#include "platform/text.h"
#include "sync/objects/protobuf_write.h"

namespace holdfast::sync::objects {
namespace {

namespace json = boost::json;

TEST(Protobuf, WhatIsWrittenIsReadAgain) {
  const json::object pod =
      json::parse(R"({"metadata":{"name":"a","labels":{"x":"y"}},"spec":{"priority":-5,)"
                  R"("containers":[{"name":"c","env":[{"name":"A","valueFrom":{"secretKeyRef":)"
                  R"({"name":"s","key":"k"}}}],"resources":{"limits":{"cpu":"1"}}}]},)"
                  R"("status":{"startTime":"2024-01-01T00:00:00Z"}})")
          .as_object();
  const StructType& type = known_type("Pod");
  EXPECT_EQ(*read_protobuf(type, *write_protobuf(type, pod)), pod);
  const auto wrong = write_protobuf(type, json::object{{"spec", json::object{{"nodeName", 1}}}});
  EXPECT_EQ(wrong.error(), (Error{Errc::invalid, "nodeName: not a string"}));
  EXPECT_FALSE(to_protobuf(R"({"kind":"Nobody"})").has_value());
  EXPECT_FALSE(to_protobuf("{").has_value());
}

// A ConfigMap that kubectl 1.32 sent: name zz, data a=b.
constexpr std::string_view config_map(
    "k8s\0\x0a\x0f\x0a\x02v1\x12\x09"
    "ConfigMap\x12\x1c\x0a\x12\x0a\x02zz\x12\x00\x1a\x00\"\x00*\x00\x32\x00\x38\x00\x42\x00"
    "\x12\x06\x0a\x01"
    "a\x12\x01"
    "b\x1a\x00\"\x00",
    53);

TEST(Protobuf, ReadsWhatKubectlSends) {
  const auto envelope = unwrap_protobuf(config_map);
  ASSERT_TRUE(envelope);
  EXPECT_EQ(envelope->api_version, "v1");
  EXPECT_EQ(envelope->kind, "ConfigMap");
  const auto object = read_protobuf(known_type("ConfigMap"), envelope->bytes);
  ASSERT_TRUE(object) << object.error().what;
  EXPECT_EQ(json::serialize(*object),
            R"({"metadata":{"name":"zz","generateName":"","namespace":"","selfLink":"","uid":"",)"
            R"("resourceVersion":"","generation":0,"creationTimestamp":null},"data":{"a":"b"}})");
}

TEST(Protobuf, ReadsEmbeddedMessagesAsJsonShowsThem) {
  // Probe{handler{tcpSocket{port 80}}, periodSeconds 5}
  const std::string_view probe("\x0a\x08\x1a\x06\x0a\x04\x08\x00\x10\x50\x20\x05", 12);
  const auto object = read_protobuf(known_type("Probe"), probe);
  ASSERT_TRUE(object) << object.error().what;
  EXPECT_EQ(json::serialize(*object), R"({"tcpSocket":{"port":80},"periodSeconds":5})");
}

TEST(Protobuf, ReadsAMapEntryWithoutKeyAndValueAsEmptyTexts) {
  const auto object = read_protobuf(known_type("ConfigMap"), std::string_view("\x12\x00", 2));
  ASSERT_TRUE(object) << object.error().what;
  EXPECT_EQ(json::serialize(*object), R"({"data":{"":""}})");
}

TEST(Protobuf, RefusesBrokenBytes) {
  const StructType& type = known_type("ConfigMap");
  EXPECT_EQ(unwrap_protobuf("{}").error().what,
            "provided data does not appear to be a protobuf message, expected prefix "
            "[107 56 115 0]");
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"\x0a", "proto: unexpected EOF"},
      {"\x0a\x05", "proto: unexpected EOF"},
      {"\x0b", "proto: illegal wireType"},
      {std::string_view("\x00\x00", 2), "proto: illegal tag"},
      {"\x0a\x04\x0a\x02\xC3\x28", "proto: invalid UTF-8"},
      {"\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", "proto: integer overflow"},
  };
  for (const auto& [bytes, error] : cases) {
    EXPECT_EQ(read_protobuf(type, bytes).error(), (Error{Errc::invalid, std::string(error), {}}));
  }
  for (std::size_t length = 0; length < config_map.size(); ++length) {
    const auto envelope = unwrap_protobuf(config_map.substr(0, length));
    if (envelope) (void)read_protobuf(type, envelope->bytes);  // It must only not crash.
  }
}

}  // namespace
}  // namespace holdfast::sync::objects
