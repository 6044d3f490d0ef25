// JSON merge patch: the examples of RFC 7386, and upstream's treatment of nulls.

#include "sync/objects/patch/merge_patch.h"

namespace holdfast::sync::objects {
namespace {

struct MergeLine {
  std::string_view original;
  std::string_view patch;
  std::string_view result;
};

const MergeLine merge_lines[] = {
    {R"({"a":"b"})", R"({"a":"c"})", R"({"a":"c"})"},
    {R"({"a":"b"})", R"({"b":"c"})", R"({"a":"b","b":"c"})"},
    {R"({"a":"b"})", R"({"a":null})", R"({})"},
    {R"({"a":"b","b":"c","d":1})", R"({"a":null})", R"({"b":"c","d":1})"},
    {R"({"a":["b"]})", R"({"a":"c"})", R"({"a":"c"})"},
    {R"({"a":"c"})", R"({"a":["b"]})", R"({"a":["b"]})"},
    {R"({"a":{"b":"c"}})", R"({"a":{"b":"d","c":null}})", R"({"a":{"b":"d"}})"},
    {R"({"a":[{"b":"c"}]})", R"({"a":[1]})", R"({"a":[1]})"},
    {R"(["a","b"])", R"(["c","d"])", R"(["c","d"])"},
    {R"({"a":"b"})", R"(["c"])", R"(["c"])"},
    {R"({"a":"foo"})", R"("bar")", R"("bar")"},
    {R"([1,2])", R"({"a":"b","c":null})", R"({"a":"b"})"},
    {R"({})", R"({"a":{"bb":{"ccc":null}}})", R"({"a":{"bb":{}}})"},
    {R"({"e":null})", R"({"a":1})", R"({"e":null,"a":1})"},
    {R"({})", R"({"a":[{"b":null,"c":1},null]})", R"({"a":[{"c":1},null]})"},
    {R"({"a":null})", R"({"a":{"b":null}})", R"({"a":{}})"},
    {R"({"spec":{"podCIDR":"c","taints":[1]}})", R"({"spec":{"taints":null}})",
     R"({"spec":{"podCIDR":"c"}})"},
};

TEST(MergePatch, Merges) {
  for (const MergeLine& line : merge_lines) {
    json::value target = *wire::parse_json(line.original);
    merge_patch(target, *wire::parse_json(line.patch));
    EXPECT_EQ(wire::serialize(target), line.result) << line.original << " + " << line.patch;
  }
}

}  // namespace
}  // namespace holdfast::sync::objects
