// Sets of fields, and the operations of server-side apply on one object.

#include "agent/lab/rules/field_set.h"

#include <boost/json.hpp>

#include "agent/lab/rules/merge_walk.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

FieldSet field_set(std::string_view fields) {
  return from_fields_v1(json::parse(fields).as_object());
}

std::string text_of(const FieldSet& set) { return json::serialize(to_fields_v1(set)); }

json::object parsed_object(std::string_view text) { return json::parse(text).as_object(); }

MergeType pods() { return MergeType::of(sync::known_type("Pod")); }

TEST(FieldSet, ReadsAndWritesFieldsV1) {
  const std::string text =
      R"({"f:metadata":{"f:labels":{".":{},"f:a":{}}},"f:spec":{"f:containers":)"
      R"({"k:{\"name\":\"c\"}":{".":{},"f:image":{}}}}})";
  EXPECT_EQ(text_of(field_set(text)), text);
  EXPECT_EQ(paths_of(field_set(text)),
            (std::vector<std::string>{".metadata.labels", ".metadata.labels.a",
                                      R"(.spec.containers[name="c"])",
                                      R"(.spec.containers[name="c"].image)"}));
}

TEST(FieldSet, UnitesSubtractsAndIntersects) {
  const FieldSet left = field_set(R"({"f:a":{".":{},"f:x":{}},"f:b":{}})");
  const FieldSet right = field_set(R"({"f:a":{"f:x":{},"f:y":{}},"f:c":{}})");
  EXPECT_EQ(text_of(unite(left, right)), R"({"f:a":{".":{},"f:x":{},"f:y":{}},"f:b":{},"f:c":{}})");
  EXPECT_EQ(text_of(subtract(left, right)), R"({"f:a":{},"f:b":{}})");
  EXPECT_EQ(text_of(intersect(left, right)), R"({"f:a":{"f:x":{}}})");
  EXPECT_TRUE(subtract(left, left).empty());
}

TEST(MergeWalk, FindsTheFieldsOfAConfiguration) {
  struct Case {
    std::string_view what;
    std::string_view object;
    std::string_view fields;  // or the error
  };
  const Case cases[] = {
      {"a map", R"({"metadata":{"labels":{"a":"b"}}})",
       R"({"f:metadata":{"f:labels":{"f:a":{}}}})"},
      {"an empty map", R"({"metadata":{"labels":{}}})", R"({"f:metadata":{"f:labels":{}}})"},
      {"an atomic map", R"({"spec":{"nodeSelector":{"a":"b"}}})",
       R"({"f:spec":{"f:nodeSelector":{}}})"},
      {"a keyed list", R"({"spec":{"containers":[{"name":"c","image":"i"}]}})",
       R"({"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{".":{},"f:image":{},"f:name":{}}}}})"},
      {"two keys, one with a default",
       R"({"spec":{"containers":[{"name":"c","ports":[{"containerPort":80}]}]}})",
       R"({"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{".":{},"f:name":{},"f:ports":)"
       R"({"k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{}}}}}}})"},
      {"a set", R"({"metadata":{"finalizers":["a"]}})",
       R"({"f:metadata":{"f:finalizers":{"v:\"a\"":{}}}})"},
      {"an atomic list", R"({"spec":{"tolerations":[{"key":"a"}]}})",
       R"({"f:spec":{"f:tolerations":{}}})"},
      {"an unknown field", R"({"spec":{"x":1}})", ".spec.x: field not declared in schema"},
      {"an item without its key", R"({"spec":{"containers":[{"image":"i"}]}})",
       R"({"f:spec":{"f:containers":{"k:{\"name\":\"\"}":{".":{},"f:image":{}}}}})"},
      {"an item twice", R"({"spec":{"containers":[{"name":"c"},{"name":"c"}]}})",
       R"(.spec.containers: duplicate entries for key [name="c"])"},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.what);
    const auto found = fields_of(parsed_object(each.object), pods());
    EXPECT_EQ(found ? text_of(*found) : found.error().what, each.fields);
  }
}

TEST(MergeWalk, MergesListsByTheirKeys) {
  const json::object live = parsed_object(
      R"({"metadata":{"finalizers":["x"]},"spec":{"containers":[{"name":"a","image":"1"},)"
      R"({"name":"b","image":"1"}],"tolerations":[{"key":"old"}]}})");
  const json::object applied =
      parsed_object(R"({"metadata":{"finalizers":["y"]},"spec":{"containers":[{"name":"c"},)"
                    R"({"name":"b","image":"2"}],"tolerations":[{"key":"new"}]}})");
  EXPECT_EQ(json::serialize(merged(live, applied, pods())),
            R"({"metadata":{"finalizers":["x","y"]},"spec":{"containers":[)"
            R"({"name":"a","image":"1"},{"name":"b","image":"2"},{"name":"c"}],)"
            R"("tolerations":[{"key":"new"}]}})");
}

TEST(MergeWalk, ComparesObjects) {
  const json::object before = parsed_object(
      R"({"metadata":{"labels":{"a":"1","b":"1"}},"spec":{"containers":[{"name":"a"}]}})");
  const json::object after = parsed_object(
      R"({"metadata":{"labels":{"a":"2"},"annotations":{"n":"1"}},"spec":{"containers":[)"
      R"({"name":"a"},{"name":"b","image":"i"}]}})");
  const FieldChanges found = compare(before, after, pods());
  EXPECT_EQ(text_of(found.added),
            R"({"f:metadata":{"f:annotations":{".":{},"f:n":{}}},"f:spec":{"f:containers":)"
            R"({"k:{\"name\":\"b\"}":{".":{},"f:image":{},"f:name":{}}}}})");
  EXPECT_EQ(text_of(found.modified), R"({"f:metadata":{"f:labels":{"f:a":{}}}})");
  EXPECT_EQ(text_of(found.removed), R"({"f:metadata":{"f:labels":{"f:b":{}}}})");
  EXPECT_TRUE(compare(before, before, pods()).same());
}

TEST(MergeWalk, RemovesWhatNobodyKeeps) {
  json::object object = parsed_object(
      R"({"metadata":{"labels":{"a":"1"}},"spec":{"containers":[{"name":"a","image":"i"},)"
      R"({"name":"b","image":"i","tty":true}]}})");
  const FieldSet dropped = field_set(
      R"({"f:metadata":{"f:labels":{"f:a":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"a\"}":)"
      R"({".":{},"f:image":{},"f:name":{}},"k:{\"name\":\"b\"}":{".":{},"f:image":{}}}}})");
  const FieldSet kept =
      field_set(R"({"f:spec":{"f:containers":{"k:{\"name\":\"b\"}":{"f:tty":{}}}}})");
  remove_fields(object, pods(), dropped, kept);
  EXPECT_EQ(json::serialize(object), R"({"spec":{"containers":[{"name":"b","tty":true}]}})");
}

}  // namespace
}  // namespace holdfast::agent::lab
