// Reading and changing an object's header without parsing the whole object.

#include "sync/wire/object_header.h"

#include "sync/wire/json_scan.h"

namespace holdfast::sync::wire {
namespace {

TEST(ObjectHeader, ReadsItsFields) {
  const auto header = read_header(
      R"({ "kind":"Pod","apiVersion":"v1","metadata":{"name":"p\u0031","namespace":"t","uid":"u",)"
      R"("resourceVersion":"213","deletionTimestamp":"2026-11-21T01:23:54Z","annotations":)"
      R"({"}":"{\"["},"labels":{"b":"2","a":"\"\\"},"ownerReferences":[{"name":"no"}]},)"
      R"("this is": never read)");
  ASSERT_TRUE(header.has_value()) << header.error().what;
  const ObjectHeader want{.api_version = "v1",
                          .kind = "Pod",
                          .namespace_name = "t",
                          .name = "p1",
                          .uid = "u",
                          .resource_version = "213",
                          .labels = {{"a", "\"\\"}, {"b", "2"}},
                          .deletion_timestamp = *parse_rfc3339("2026-11-21T01:23:54Z")};
  EXPECT_EQ(*header, want);
}

TEST(ObjectHeader, ItemsHaveNoKindAndNullsAreAbsent) {
  const auto header = read_header(R"({"metadata":{"name":"p","labels":null,"uid":null},"a":1})");
  ASSERT_TRUE(header.has_value());
  ObjectHeader want;
  want.name = "p";
  EXPECT_EQ(*header, want);
  EXPECT_EQ(read_header("{}"), ObjectHeader{});
}

struct BadHeader {
  std::string_view bytes;
  std::string_view error;
};

const BadHeader bad_headers[] = {
    {"", "JSON at byte 0: expected an object"},
    {"[]", "JSON at byte 0: expected an object"},
    {"{", "JSON at byte 1: expected a key"},
    {R"({"a")", "JSON at byte 4: expected ':'"},
    {R"({"a":)", "JSON at byte 5: expected a value"},
    {R"({"a":1)", "JSON at byte 6: expected ',' or '}'"},
    {R"({"a":1 "b":2})", "JSON at byte 7: expected ',' or '}'"},
    {R"({"kind":1})", "JSON at byte 8: expected a string"},
    {R"({"kind":"Po)", "JSON at byte 8: string without end"},
    {R"({"a":[{}})", "JSON at byte 8: brackets do not match"},
    {R"({"a":[{})", "JSON at byte 8: object or array without end"},
    {R"({"metadata":{"deletionTimestamp":"x"}})", "JSON at byte 36: expected a time (RFC 3339)"},
    {R"({"metadata":{"labels":{"a":{}}}})", "JSON at byte 27: expected a string"},
};

TEST(ObjectHeader, SaysWhereItBroke) {
  for (const BadHeader& bad : bad_headers) {
    const auto header = read_header(bad.bytes);
    ASSERT_FALSE(header.has_value()) << bad.bytes;
    EXPECT_EQ(header.error(), (Error{Errc::invalid, std::string(bad.error)})) << bad.bytes;
  }
  const std::string deep(200, '[');
  EXPECT_EQ(read_header("{\"a\":" + deep).error().what, "JSON at byte 133: too deep");
}

TEST(ObjectHeader, TextAtAPath) {
  const std::string_view pod =
      R"({"spec":{"nodeName":"n1","on":true,"n":-5,"x":null,"y":{}},"status":null,"z":"s"})";
  EXPECT_EQ(*text_at(pod, {"spec", "nodeName"}), "n1");
  EXPECT_EQ(*text_at(pod, {"spec", "on"}), "true");
  EXPECT_EQ(*text_at(pod, {"spec", "n"}), "-5");
  EXPECT_EQ(*text_at(pod, {"spec", "x"}), std::nullopt);
  EXPECT_EQ(*text_at(pod, {"spec", "no"}), std::nullopt);
  EXPECT_EQ(*text_at(pod, {"status", "phase"}), std::nullopt);
  EXPECT_EQ(*text_at(pod, {"z", "phase"}), std::nullopt);
  EXPECT_FALSE(text_at(pod, {"spec", "y"}).has_value());
  EXPECT_FALSE(text_at("{\"spec\":", {"spec", "y"}).has_value());
}

TEST(ObjectHeader, ReplacesTheResourceVersion) {
  const auto changed = [](std::string_view object) {
    const auto bytes = with_resource_version(object, "9");
    return bytes ? *bytes : bytes.error().what;
  };
  EXPECT_EQ(changed(R"({"metadata":{"name":"x","resourceVersion":"123","labels":{}},"a":1})"),
            R"({"metadata":{"name":"x","resourceVersion":"9","labels":{}},"a":1})");
  EXPECT_EQ(changed(R"({"metadata":{"name":"x","uid":"u","labels":{}}})"),
            R"({"metadata":{"name":"x","uid":"u","resourceVersion":"9","labels":{}}})");
  EXPECT_EQ(changed(R"({"metadata":{"name":"x"}})"),
            R"({"metadata":{"name":"x","resourceVersion":"9"}})");
  EXPECT_EQ(changed(R"({"metadata":{"labels":{}}})"),
            R"({"metadata":{"resourceVersion":"9","labels":{}}})");
  EXPECT_EQ(changed(R"({"metadata":{ }})"), R"({"metadata":{"resourceVersion":"9" }})");
  EXPECT_EQ(changed(R"({"a":1})"), "object without metadata");
  EXPECT_EQ(changed(R"({"metadata":{"name":"x")"), "JSON at byte 23: expected ',' or '}'");
}

TEST(JsonScan, UnescapesAsJsonDoes) {
  EXPECT_EQ(unescape_json(R"(a\"\\\/\b\f\n\r\t\u00e9\u20ac\ud83d\ude00)"),
            "a\"\\/\b\f\n\r\t\u00e9\u20ac\U0001F600");
  EXPECT_EQ(unescape_json(R"(\ud83dx\uZZ)"), "\ufffdx\ufffdZZ");
}

}  // namespace
}  // namespace holdfast::sync::wire
