// The three patches as an API server answers them.

#include "sync/objects/patch/patch.h"

namespace holdfast::sync::objects {
namespace {

constexpr std::string_view node = R"({"kind":"Node","metadata":{"name":"n1","labels":{"a":"1"}}})";

struct PatchLine {
  PatchType type;
  std::string_view kind;
  std::string_view patch;
  std::string result;  // the object, or the body of the error answer
};

const PatchLine patch_lines[] = {
    {PatchType::merge, "Node", R"({"metadata":{"labels":{"b":"2"}}})",
     R"({"kind":"Node","metadata":{"name":"n1","labels":{"a":"1","b":"2"}}})"},
    {PatchType::strategic, "Node", R"({"metadata":{"labels":{"a":null}}})",
     R"({"kind":"Node","metadata":{"name":"n1","labels":{}}})"},
    {PatchType::json, "Node", R"([{"op":"remove","path":"/metadata/labels"}])",
     R"({"kind":"Node","metadata":{"name":"n1"}})"},
    // As recorded from a kube-apiserver.
    {PatchType::json, "Node", R"([{"op":"test","path":"/metadata/labels/a","value":"9"}])",
     wire::status::generic(422).body()},
    {PatchType::json, "Node", "{}",
     wire::status::bad_request(
         "json: cannot unmarshal object into Go value of type jsonpatch.Patch")
         .body()},
    {PatchType::merge, "Node", "[]", wire::status::bad_request("Invalid JSON Patch").body()},
    {PatchType::strategic, "NodePool", "{}", wire::status::generic(415).body()},
    {PatchType::strategic, "Node", "[]",
     wire::status::bad_request(
         "json: cannot unmarshal array into Go value of type map[string]interface {}")
         .body()},
    {PatchType::strategic, "Node", R"({"metadata":{"$retainKeys":1}})",
     wire::status::bad_request("invalid patch format of retainKeys").body()},
    {PatchType::strategic, "Node", R"({"metadata":{"$patch":"x"}})",
     wire::status::unexplained("unknown patch type: x in map: map[$patch:x]").body()},
    {PatchType::merge, "Node", "{",
     wire::status::bad_request("JSON at byte 1: incomplete JSON").body()},
};

TEST(Patch, AnswersAsAnApiServer) {
  for (const PatchLine& line : patch_lines) {
    const auto patched = apply_patch(line.type, line.kind, *wire::parse_json(node), line.patch);
    EXPECT_EQ(patched ? wire::serialize(*patched) : patched.error().body(), line.result)
        << line.patch;
  }
}

TEST(Patch, MediaTypes) {
  EXPECT_EQ(parse_patch_type("application/merge-patch+json"), PatchType::merge);
  EXPECT_EQ(parse_patch_type("application/json-patch+json;charset=utf-8"), PatchType::json);
  EXPECT_EQ(parse_patch_type("application/strategic-merge-patch+json "), PatchType::strategic);
  EXPECT_EQ(parse_patch_type("application/apply-patch+yaml"), std::nullopt);
  EXPECT_EQ(parse_patch_type(""), std::nullopt);
}

}  // namespace
}  // namespace holdfast::sync::objects
