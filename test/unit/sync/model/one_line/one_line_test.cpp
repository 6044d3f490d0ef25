// With one additional line in a table, `trialNames []string? =50 merge @` in NodeStatus, the
// struct, JSON, protobuf in both directions and the merge rule all support the field.

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "sync/objects/patch/diff.h"
#include "sync/objects/patch/strategic_patch.h"
#include "sync/objects/protobuf.h"
#include "sync/objects/protobuf_write.h"
#include "sync/wire/codec.h"
#include "sync/wire/protobuf/decode.h"

namespace holdfast::sync::inline model {
namespace {

constexpr std::string_view node_text = R"({"kind":"Node","apiVersion":"v1","metadata":{"name":"n",)"
                                       R"("creationTimestamp":null},"spec":{},)"
                                       R"("status":{"trialNames":["a","b"]}})";
const std::vector<std::string> names = {"a", "b"};

TEST(OneLine, IsAMemberAndInJson) {
  const Node node = wire::decode_bytes<Node>(node_text).value();
  EXPECT_EQ(node.status.trial_names, names);
  EXPECT_TRUE(node.status.unknown_fields.empty());
  Node made;
  made.status.trial_names = names;
  EXPECT_EQ(wire::encode(made).at("status").at("trialNames"), (json::array{"a", "b"}));
  EXPECT_FALSE(wire::decode_bytes<Node>(R"({"status":{"trialNames":"a"}})").has_value());
}

TEST(OneLine, IsInProtobufBothWays) {
  const std::string written = objects::to_protobuf(node_text).value();
  EXPECT_EQ(wire::decode_protobuf<Node>(written)->status.trial_names, names);
  const json::object read = objects::object_of_protobuf(written).value();
  EXPECT_EQ(read.at("status").at("trialNames"), (json::array{"a", "b"}));
}

TEST(OneLine, IsMergedByPatches) {
  const json::object before = wire::parse_json(node_text)->get_object();
  const json::object patch = wire::parse_json(R"({"status":{"trialNames":["c"]}})")->get_object();
  const json::object after = objects::strategic_patch("Node", before, patch).value();
  EXPECT_EQ(after.at("status").at("trialNames").as_array().size(), 3U);
  const json::object back = objects::strategic_diff("Node", after, before).value();
  EXPECT_EQ(back.at("status").at("$deleteFromPrimitiveList/trialNames"), (json::array{"c"}));
}

}  // namespace
}  // namespace holdfast::sync::inline model
