// JSON patch: each operation, its failures with upstream's messages, and the limits.

#include "sync/objects/patch/json_patch.h"

#include <boost/json/array.hpp>

namespace holdfast::sync::objects {
namespace {

std::string patched(std::string_view document, std::string_view operations,
                    const JsonPatchLimits& limits = {}) {
  const json::value parsed = *wire::parse_json(operations);
  const auto result = json_patch(*wire::parse_json(document), parsed.get_array(), limits);
  return result ? wire::serialize(*result) : result.error().what;
}

struct JsonLine {
  std::string_view document;
  std::string_view operations;
  std::string_view result;
};

const JsonLine good_json[] = {
    {R"({"a":1})", R"([{"op":"add","path":"/b","value":[1]}])", R"({"a":1,"b":[1]})"},
    {R"({"a":1})", R"([{"op":"add","path":"/a","value":2}])", R"({"a":2})"},
    {R"({"a":[1,3]})", R"([{"op":"add","path":"/a/1","value":2}])", R"({"a":[1,2,3]})"},
    {R"({"a":[1]})", R"([{"op":"add","path":"/a/-","value":2}])", R"({"a":[1,2]})"},
    {R"({"a":[1]})", R"([{"op":"add","path":"/a/1","value":2}])", R"({"a":[1,2]})"},
    {R"({"a":[1,2]})", R"([{"op":"add","path":"/a/-1","value":3}])", R"({"a":[1,2,3]})"},
    {R"({"a":1,"b":2,"c":3})", R"([{"op":"remove","path":"/a"}])", R"({"b":2,"c":3})"},
    {R"({"a":[1,2]})", R"([{"op":"remove","path":"/a/-1"}])", R"({"a":[1]})"},
    {R"({"a":1})", R"([{"op":"replace","path":"/a","value":null}])", R"({"a":null})"},
    {R"({"a":1})", R"([{"op":"replace","path":"/b","value":2}])", R"({"a":1,"b":2})"},
    {R"({"a":[1,2]})", R"([{"op":"replace","path":"/a/0","value":9}])", R"({"a":[9,2]})"},
    {R"({"a":1})", R"([{"op":"replace","path":"","value":{"z":1}}])", R"({"z":1})"},
    {R"({"a":{"b":1}})", R"([{"op":"move","from":"/a/b","path":"/c"}])", R"({"a":{},"c":1})"},
    {R"({"a":{"b":1}})", R"([{"op":"copy","from":"/a","path":"/c"}])",
     R"({"a":{"b":1},"c":{"b":1}})"},
    {R"({"a/b":{"m~n":1}})", R"([{"op":"test","path":"/a~1b/m~0n","value":1}])",
     R"({"a/b":{"m~n":1}})"},
    {R"({"a":1})", R"([{"op":"test","path":"","value":{"a":1}}])", R"({"a":1})"},
    {R"({"a":1})", R"([{"op":"test","path":"/b","value":null}])", R"({"a":1})"},
    {R"({"metadata":{"labels":{"a":"1","b":"2"}}})",
     R"([{"op":"test","path":"/metadata/labels/a","value":"1"},{"op":"add","path":)"
     R"("/metadata/annotations","value":{"x":"y"}},{"op":"remove","path":"/metadata/labels/b"}])",
     R"({"metadata":{"labels":{"a":"1"},"annotations":{"x":"y"}}})"},
};

const JsonLine bad_json[] = {
    {R"({"a":"1"})", R"([{"op":"test","path":"/a","value":"9"}])",
     "testing value /a failed: test failed"},
    {R"({})", R"([{"op":"test","path":"/a","value":1}])", "testing value /a failed: test failed"},
    {R"({"a":1})", R"([{"op":"test","path":"/a"}])", "testing value /a failed: test failed"},
    {R"({})", R"([{"op":"test","path":"/a/b","value":1}])",
     "test operation does not apply: is missing path: /a/b: missing value"},
    {R"({})", R"([{"op":"remove","path":"/a"}])",
     "error in remove for path: '/a': Unable to remove nonexistent key: a: missing value"},
    {R"({"a":[]})", R"([{"op":"remove","path":"/a/0"}])",
     "error in remove for path: '/a/0': Unable to access invalid index: 0: invalid index "
     "referenced"},
    {R"({})", R"([{"op":"add","path":"/a/b","value":1}])",
     R"(add operation does not apply: doc is missing path: "/a/b": missing value)"},
    {R"({"a":1})", R"([{"op":"add","path":"/a/b","value":1}])",
     R"(add operation does not apply: doc is missing path: "/a/b": missing value)"},
    {R"({})", R"([{"op":"add","path":"","value":1}])",
     R"(add operation does not apply: doc is missing path: "": missing value)"},
    {R"({"a":[]})", R"([{"op":"add","path":"/a/x","value":1}])",
     "error in add for path: '/a/x': value was not a proper array index: 'x': strconv.Atoi: "
     "parsing \"x\": invalid syntax"},
    {R"({"a":[]})", R"([{"op":"add","path":"/a/2","value":1}])",
     "error in add for path: '/a/2': Unable to access invalid index: 2: invalid index referenced"},
    {R"({"a":[]})", R"([{"op":"add","path":"/a/-5","value":1}])",
     "error in add for path: '/a/-5': Unable to access invalid index: -5: invalid index "
     "referenced"},
    {R"({"a":[]})", R"([{"op":"replace","path":"/a/0","value":1}])",
     "replace operation does not apply: doc is missing key: /a/0: missing value"},
    {R"({})", R"([{"op":"replace","path":"","value":1}])",
     "replace operation value must be object or array"},
    {R"({})", R"([{"op":"move","from":"/a/b","path":"/c"}])",
     "move operation does not apply: doc is missing from path: /a/b: missing value"},
    {R"({})", R"([{"op":"copy","path":"/c"}])",
     "copy operation failed to decode from: missing value"},
    {R"({})", R"([{"op":"add"}])", "add operation failed to decode path: missing value"},
    {R"({})", R"([{"op":"burn","path":"/a"}])", "Unexpected kind: burn"},
    {R"({})", R"([{"path":"/a"}])", "Unexpected kind: unknown"},
    {R"({})", R"([1])", "Unexpected kind: unknown"},
};

TEST(JsonPatch, Applies) {
  for (const JsonLine& line : good_json) {
    EXPECT_EQ(patched(line.document, line.operations), line.result) << line.operations;
  }
}

TEST(JsonPatch, RefusesInUpstreamsWords) {
  for (const JsonLine& line : bad_json) {
    EXPECT_EQ(patched(line.document, line.operations), line.result) << line.operations;
  }
}

TEST(JsonPatch, HasLimits) {
  EXPECT_EQ(
      patched("{}", R"([{"op":"test","path":""},{"op":"test","path":""}])", {.operations = 1}),
      "The allowed maximum operations in a JSON patch is 1, got 2");
  EXPECT_EQ(
      patched(R"({"a":"xxxx"})",
              R"([{"op":"copy","from":"/a","path":"/b"},{"op":"copy","from":"/b","path":"/c"}])",
              {.copied_bytes = 11}),
      "Unable to complete the copy, the accumulated size increase of copy is 12, exceeding "
      "the limit 11");
}

}  // namespace
}  // namespace holdfast::sync::objects
