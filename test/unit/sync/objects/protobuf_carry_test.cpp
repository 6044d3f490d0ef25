// Applying changes of an object's JSON to its protobuf: changed fields are written, all others keep
// their bytes.

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "sync/autonomy/local_form.h"
#include "sync/objects/protobuf.h"
#include "sync/objects/protobuf_carry.h"
#include "sync/objects/protobuf_write.h"
#include "sync/objects/typed.h"
#include "sync/wire/json.h"
#include "sync/wire/protobuf/cursor.h"
#include "sync/wire/protobuf/envelope.h"
#include "sync/wire/read.h"
#include "test/unit/sync/wire/protobuf/session.h"

namespace holdfast::sync::objects {
namespace {

json::object shaped(const StructType& type, std::string_view text) {
  return shape(type, wire::parse_json(text).value()).value().object;
}

std::string protobuf_of(const StructType& type, const json::object& object) {
  return write_protobuf(type, object).value();
}

TEST(Carry, EveryObjectOfAKubeletSurvivesAChangeAndItsUndoing) {
  int objects = 0;
  for (const wire::test::Recorded& recorded : wire::test::recorded_objects()) {
    const wire::Envelope envelope = wire::open_envelope(recorded.bytes).value();
    const StructType* type = find_type(envelope.kind);
    if (type == nullptr || type->field("metadata") == nullptr) continue;
    const json::object before = object_of_protobuf(recorded.bytes).value();
    const std::string raw(envelope.raw);
    EXPECT_EQ(carry_changes(*type, raw, before, before).value(), raw) << recorded.where;

    json::object after = before;
    wire::make_object(after, {"metadata", "labels"})["carried"] = "yes";
    const std::string changed = carry_changes(*type, raw, before, after).value();
    EXPECT_NE(changed, raw) << recorded.where;
    const json::object read =
        object_of_protobuf(wire::enveloped("v1", envelope.kind, changed)).value();
    EXPECT_EQ(read.at("metadata"), after.at("metadata")) << recorded.where;
    EXPECT_EQ(carry_changes(*type, changed, after, before).value(), raw) << recorded.where;
    ++objects;
  }
  EXPECT_GT(objects, 280);
}

// An unknown field, number 99, as a newer server might send.
std::string unknown(std::string_view text) {
  std::string field;
  wire::append_wire(field, 99, text);
  return field;
}

struct Row {
  std::string_view name;
  std::string_view type;
  std::string_view before;
  std::string_view after;
};

TEST(Carry, WhatChangesArrives) {
  const Row rows[] = {
      {"a scalar", "PodStatus", R"({"phase":"Pending"})", R"({"phase":"Running"})"},
      {"a scalar that goes", "PodStatus", R"({"phase":"Pending","podIP":"1.1.1.1"})",
       R"({"phase":"Pending"})"},
      {"an item of a merged list", "NodeStatus",
       R"({"conditions":[{"type":"A","status":"True"},{"type":"B","status":"False"}]})",
       R"({"conditions":[{"type":"A","status":"False"},{"type":"B","status":"False"}]})"},
      {"items that come, go and change places", "NodeStatus",
       R"({"addresses":[{"type":"InternalIP","address":"1"},{"type":"Hostname","address":"a"}]})",
       R"({"addresses":[{"type":"Hostname","address":"a"},{"type":"ExternalIP","address":"2"}]})"},
      {"a map", "NodeStatus", R"({"capacity":{"cpu":"1","memory":"2Gi"}})",
       R"({"capacity":{"cpu":"2","pods":"110"}})"},
      {"a message inside a message", "NodeStatus", R"({"nodeInfo":{"kernelVersion":"5"}})",
       R"({"nodeInfo":{"kernelVersion":"6"}})"},
      {"a list without key", "PodStatus",
       R"({"containerStatuses":[{"name":"a","state":{"waiting":{"reason":"x"}}}]})",
       R"({"containerStatuses":[{"name":"a","state":{"running":)"
       R"({"startedAt":"2024-01-01T00:00:00Z"}}}]})"},
      {"a list of texts", "NodeStatus", R"({"volumesInUse":["a","b"]})",
       R"({"volumesInUse":["b"]})"},
      {"what newer kubelets tell of a node", "NodeStatus", R"({"features":{}})",
       R"({"runtimeHandlers":[{"name":"runc","features":{"userNamespaces":true}}],)"
       R"("features":{"supplementalGroupsPolicy":false}})"},
      {"what newer kubelets tell of a container", "ContainerStatus", R"({"name":"a"})",
       R"({"name":"a","user":{"linux":{"uid":0,"gid":1000,"supplementalGroups":[1,2]}},)"
       R"("allocatedResourcesStatus":[{"name":"x/gpu","resources":[{"resourceID":"0",)"
       R"("health":"Healthy"}]}]})"},
      {"from nothing", "PodStatus", "{}",
       R"({"hostIPs":[{"ip":"1.1.1.1"}],"qosClass":"Burstable"})"},
      {"a field of an embedded message", "Volume", R"({"name":"v","emptyDir":{}})",
       R"({"name":"v","secret":{"secretName":"s"}})"},
  };
  for (const Row& row : rows) {
    const StructType& type = known_type(row.type);
    const json::object before = shaped(type, row.before);
    const json::object after = shaped(type, row.after);
    const std::string base = protobuf_of(type, before) + unknown("at the end");
    const auto carried = carry_changes(type, base, before, after);
    ASSERT_TRUE(carried.has_value()) << row.name << ": " << carried.error().what;
    const json::object read = read_protobuf(type, *carried).value();
    EXPECT_EQ(wire::serialize(shape(type, read).value().object), wire::serialize(after))
        << row.name;
    EXPECT_NE(carried->find(unknown("at the end")), std::string::npos) << row.name;
  }
}

TEST(Carry, UnknownFieldsOfAnItemStayWithItsKey) {
  const StructType& status = known_type("NodeStatus");
  const StructType& condition = known_type("NodeCondition");
  const json::object before = shaped(status, R"({"conditions":[{"type":"A","status":"True"},
                                                               {"type":"B","status":"True"}]})");
  std::string base;
  for (const json::value& item : before.at("conditions").as_array()) {
    const std::string name(item.at("type").as_string());
    wire::append_wire(base, 4, protobuf_of(condition, item.as_object()) + unknown("of " + name));
  }
  const json::object after = shaped(status, R"({"conditions":[{"type":"B","status":"False"}]})");
  const std::string carried = carry_changes(status, base, before, after).value();
  EXPECT_NE(carried.find(unknown("of B")), std::string::npos);
  EXPECT_EQ(carried.find(unknown("of A")), std::string::npos);
}

// If a message field occurs twice, protobuf merges the two.
// Compared with one another, so many items would keep the loop busy for minutes.
TEST(Carry, ALongListIsFollowedInAnyOrder) {
  constexpr int count = 30'000;
  const StructType& type = known_type("NodeStatus");
  json::array before;
  for (int i = 0; i < count; ++i) {
    before.push_back(json::object{{"type", "T" + std::to_string(i)}, {"status", "False"}});
  }
  json::array after(before.rbegin(), before.rend());
  for (json::value& condition : after) condition.get_object()["status"] = "True";
  const json::object old_status =
      shaped(type, wire::serialize(json::object{{"conditions", before}}));
  const json::object status = shaped(type, wire::serialize(json::object{{"conditions", after}}));
  const std::string raw = protobuf_of(type, old_status);
  EXPECT_EQ(carry_changes(type, raw, old_status, status).value(), protobuf_of(type, status));
}

TEST(Carry, WhatStandsTwiceLosesNothing) {
  const StructType& type = known_type("Pod");
  const StructType& metadata = known_type("ObjectMeta");
  std::string base;
  wire::append_wire(base, 1, protobuf_of(metadata, shaped(metadata, R"({"name":"a"})")));
  wire::append_wire(base, 1,
                    protobuf_of(metadata, shaped(metadata, R"({"uid":"u"})")) + unknown("x"));
  const json::object before = shape(type, read_protobuf(type, base).value()).value().object;
  EXPECT_EQ(wire::dig_text(before, {"metadata", "name"}), "a");
  EXPECT_EQ(wire::dig_text(before, {"metadata", "uid"}), "u");
  json::object after = before;
  wire::make_object(after, {"metadata", "labels"})["carried"] = "yes";
  const std::string carried = carry_changes(type, base, before, after).value();
  EXPECT_EQ(shape(type, read_protobuf(type, carried).value()).value().object, after);
  EXPECT_NE(carried.find(unknown("x")), std::string::npos);
}

TEST(Carry, SaysWhatDoesNotFit) {
  const StructType& type = known_type("PodStatus");
  const json::object before = shaped(type, "{}");
  const json::object after{{"phase", 5}};
  const auto carried = carry_changes(type, "", before, after);
  ASSERT_FALSE(carried.has_value());
  EXPECT_EQ(carried.error().what, "phase: not a string");
  EXPECT_FALSE(carry_changes(type, "\x0a\x05", before, before).has_value());
}

}  // namespace
}  // namespace holdfast::sync::objects
