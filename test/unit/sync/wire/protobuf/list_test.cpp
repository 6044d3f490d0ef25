// Lists and headers of objects in protobuf.

#include "sync/wire/protobuf/list.h"

#include "sync/wire/protobuf/cursor.h"
#include "sync/wire/protobuf/envelope.h"
#include "sync/wire/protobuf/header.h"
#include "test/unit/sync/wire/protobuf/session.h"
#include "test/unit/sync/wire/protobuf/wire.h"

namespace holdfast::sync::wire {
namespace {

const std::string metadata =
    wire_field(1, wire_field(2, "41") + wire_field(3, "next") + "\x20\x07");

TEST(ProtobufList, ComesApart) {
  const std::string first = wire_field(1, wire_field(1, "a"));
  const std::string list = enveloped(
      "v1", "PodList", metadata + wire_field(2, first) + wire_field(9, "new") + wire_field(2, ""));
  const ListBytes split = split_protobuf_list(list).value();
  EXPECT_EQ(split.head, (ListHead{"PodList", "v1", "41", "next", 7}));
  EXPECT_EQ(split.items, (std::vector<std::string_view>{first, ""}));
}

TEST(ProtobufList, TheNumberOfItemsIsLimited) {
  const std::string items = wire_field(2, "") + wire_field(2, "");
  const std::string list = enveloped("v1", "PodList", metadata + items);
  EXPECT_EQ(split_protobuf_list(list, 2)->items.size(), 2u);
  EXPECT_EQ(split_protobuf_list(list, 1).error().code, Errc::exhausted);
}

TEST(ProtobufList, WhatIsNotAWholeListIsNoEmptyList) {
  const std::string empty = enveloped("v1", "PodList", metadata);
  EXPECT_TRUE(split_protobuf_list(empty).value().items.empty());
  const std::pair<std::string, std::string> cases[] = {
      {"", "list: not Kubernetes protobuf: no \"k8s\" in front"},
      {R"({"items":[]})", "list: not Kubernetes protobuf: no \"k8s\" in front"},
      {std::string(protobuf_magic), "list: protobuf envelope: nothing in it"},
      {enveloped("v1", "PodList", ""), "list: no metadata"},
      {enveloped("v1", "PodList", wire_field(2, "")), "list: no metadata"},
      {enveloped("v1", "Status", metadata), "list: not a list: kind \"Status\""},
      {enveloped("v1", "PodList", metadata + "\x10\x01"),
       "list: protobuf at byte 35: wrong wire type"},
      {enveloped("v1", "PodList", metadata + "\x12\x05x"), "list: protobuf at byte 35: cut off"},
  };
  for (const auto& [bytes, what] : cases) {
    const auto list = split_protobuf_list(bytes);
    ASSERT_FALSE(list.has_value()) << what;
    EXPECT_EQ(list.error(), (Error{Errc::invalid, what}));
  }
  // After the object there are only the two empty fields of the envelope.
  for (std::size_t size = 0; size < empty.size() - 4; ++size) {
    EXPECT_FALSE(split_protobuf_list(empty.substr(0, size)).has_value()) << size;
  }
}

TEST(ProtobufList, ARealServersListsComeApart) {
  std::size_t lists = 0;
  std::size_t items = 0;
  for (const test::Recorded& body : test::recorded_bodies()) {
    const Envelope envelope = open_envelope(body.bytes).value();
    if (!envelope.kind.ends_with("List")) continue;
    const auto list = split_protobuf_list(body.bytes);
    ASSERT_TRUE(list.has_value()) << body.where << ": " << list.error().what;
    EXPECT_FALSE(list->head.resource_version.empty());
    std::string raw = wire_field(
        1, wire_field(1, "") + wire_field(2, list->head.resource_version) + wire_field(3, ""));
    for (const std::string_view item : list->items) raw += wire_field(2, item);
    EXPECT_EQ(enveloped(list->head.api_version, list->head.kind, raw), body.bytes) << body.where;
    ++lists;
    items += list->items.size();
  }
  EXPECT_GT(lists, 10u);
  EXPECT_GT(items, 10u);
}

TEST(ProtobufHeader, HasWhatIndexesNeed) {
  const std::string label = wire_field(11, wire_field(1, "app") + wire_field(2, "web"));
  const std::string object =
      enveloped("v1", "Pod",
                wire_field(1, wire_field(1, "a") + wire_field(2, "gen") + wire_field(3, "default") +
                                  wire_field(5, "u-1") + wire_field(6, "17") +
                                  wire_field(9, "\x08\x80\x94\xeb\xdc\x03\x10\x05") + label +
                                  wire_field(17, "managed")) +
                    wire_field(2, "spec"));
  EXPECT_EQ(*read_protobuf_header(object),
            (ObjectHeader{.api_version = "v1",
                          .kind = "Pod",
                          .namespace_name = "default",
                          .name = "a",
                          .uid = "u-1",
                          .resource_version = "17",
                          .labels = {{"app", "web"}},
                          .deletion_timestamp = WallTime(std::chrono::seconds(1'000'000'000))}));
  EXPECT_EQ(read_protobuf_header(enveloped("v1", "Pod", wire_field(1, "\x08\x01"))).error(),
            (Error{Errc::invalid, "protobuf at byte 19: wrong wire type"}));
}

TEST(ProtobufHeader, MetadataThatStandTwiceAreOne) {
  const std::string first = wire_field(1, wire_field(1, "a") + wire_field(6, "17"));
  const std::string second = wire_field(1, wire_field(3, "default") + wire_field(6, "18"));
  const std::string object = enveloped("v1", "Pod", first + wire_field(2, "") + second);
  const std::string changed = protobuf_with_resource_version(object, "19").value();
  const std::string once =
      wire_field(1, wire_field(1, "a") + wire_field(3, "default") + wire_field(6, "19"));
  const ObjectHeader header = read_protobuf_header(changed).value();
  EXPECT_EQ(header, read_protobuf_header(enveloped("v1", "Pod", once)).value());
}

}  // namespace
}  // namespace holdfast::sync::wire
