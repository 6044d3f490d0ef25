// JSON: limits, error positions, and Go's output format.

#include "sync/wire/json.h"

#include <boost/json/object.hpp>

namespace holdfast::sync::wire {
namespace {

struct BadJson {
  std::string name;
  std::string text;
  JsonLimits limits;
  Error error;
};

const BadJson bad_texts[] = {
    {"empty", "", {}, {Errc::invalid, "JSON at byte 0: incomplete JSON"}},
    {"cut_off", "{\"a\":", {}, {Errc::invalid, "JSON at byte 5: incomplete JSON"}},
    {"bare_key", "{nope", {}, {Errc::invalid, "JSON at byte 1: syntax error"}},
    {"more_after_it", "{} x", {}, {Errc::invalid, "JSON at byte 3: extra data"}},
    {"too_big", "[1,2,3]", {.bytes = 6}, {Errc::exhausted, "JSON of 7 bytes, limit 6"}},
    {"too_deep", "[[[1]]]", {.depth = 2}, {Errc::exhausted, "JSON at byte 2: too deep"}},
    {"many_values",
     "[0,{\"a\":[]},\",\",0]",
     {.values = 5},
     {Errc::exhausted, "JSON of more than 5 values"}},
    {"bad_utf8", "\"\xff\"", {}, {Errc::invalid, "JSON at byte 1: syntax error"}},
};

TEST(Json, RefusesWithThePosition) {
  for (const BadJson& bad : bad_texts) {
    SCOPED_TRACE(bad.name);
    const auto parsed = parse_json(bad.text, bad.limits);
    ASSERT_FALSE(parsed.has_value());
    EXPECT_EQ(parsed.error().code, bad.error.code);
    EXPECT_EQ(parsed.error().what, bad.error.what);
  }
}

struct Printed {
  std::string in;
  std::string out;
};

const Printed printed[] = {
    {R"( { "a" : [ 1 , -2, true, null ] } )", R"({"a":[1,-2,true,null]})"},
    {R"({"a":1,"b":2,"a":3})", R"({"a":3,"b":2})"},
    {"18446744073709551615", "18446744073709551615"},
    {"[0.5,1.0,1e21,1e-7,0.000001,-0.25,123456.789]",
     "[0.5,1,1e+21,1e-7,0.000001,-0.25,123456.789]"},
    {R"("a<b>&\"\\\n\r\t\u0001\u00e9/")",
     "\"a\\u003cb\\u003e\\u0026\\\"\\\\\\n\\r\\t\\u0001\u00e9/\""},
    {R"("\u2028x\u2029")", R"("\u2028x\u2029")"},
    {R"("\u2027\u2028\u202a\u20ac\u2030\u2029\u20a8")",
     "\"\u2027\\u2028\u202a\u20ac\u2030\\u2029\u20a8\""},
    {"[]", "[]"},
    {"{}", "{}"},
};

TEST(Json, PrintsAsGoDoes) {
  for (const Printed& line : printed) {
    const auto parsed = parse_json(line.in);
    ASSERT_TRUE(parsed.has_value()) << line.in << parsed.error().what;
    EXPECT_EQ(serialize(*parsed), line.out);
  }
}

TEST(Json, PrintsTextThatEndsWithinALineMark) {
  for (const std::string text : {"x\xe2", "x\xe2\x80", "\xe2\xe2\x80"}) {
    std::string out;
    serialize_text_to(out, text);
    EXPECT_EQ(out, '"' + text + '"');
  }
}

}  // namespace
}  // namespace holdfast::sync::wire
