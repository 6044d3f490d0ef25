// Field selectors: parsing, escapes, matching, and which fields a resource has.

#include "sync/objects/selector.h"

namespace holdfast::sync::objects {
namespace {

std::string field_text(std::string_view text) {
  const auto query = FieldQuery::parse(text);
  return query ? query->text() : query.error().what;
}

struct FieldLine {
  std::string_view in;
  std::string_view out;
};

const FieldLine field_lines[] = {
    {"", ""},
    {"a=b", "a=b"},
    {"a==b", "a=b"},
    {"a!=b", "a!=b"},
    {"z=1,,a=2", "a=2,z=1"},
    {"a==z,a=b", "a=b,a=z"},
    {"a=", "a="},
    {"=b", "=b"},
    {R"(a=b\,c\=d\\e)", R"(a=b\,c\=d\\e)"},
    {"a!b=c", "a!b=c"},
    {"spec.nodeName=n1,metadata.name!=x", "metadata.name!=x,spec.nodeName=n1"},
    {"a", "invalid selector: 'a'; can't understand 'a'"},
    {"a!b", "invalid selector: 'a!b'; can't understand 'a!b'"},
    {"a=b=c", "invalid field selector: unescaped character in value: 61"},
    {R"(a=\b)", R"(invalid field selector: invalid escape sequence: \b)"},
    {R"(a=b\)", R"(invalid field selector: invalid escape sequence: \)"},
};

TEST(FieldQuery, ParsesAndPrints) {
  for (const FieldLine& line : field_lines) EXPECT_EQ(field_text(line.in), line.out) << line.in;
}

TEST(FieldQuery, MatchesAndExactValues) {
  const auto query = FieldQuery::parse("spec.nodeName=n1,status.phase!=Running");
  ASSERT_TRUE(query.has_value());
  EXPECT_TRUE(query->matches({{"spec.nodeName", "n1"}, {"status.phase", "Pending"}}));
  EXPECT_TRUE(query->matches({{"spec.nodeName", "n1"}}));
  EXPECT_FALSE(query->matches({{"spec.nodeName", "n1"}, {"status.phase", "Running"}}));
  EXPECT_FALSE(query->matches({}));
  EXPECT_EQ(query->exact("spec.nodeName"), "n1");
  EXPECT_EQ(query->exact("status.phase"), std::nullopt);
  EXPECT_TRUE(FieldQuery::parse("spec.nodeName=")->matches({}));
  EXPECT_TRUE(FieldQuery().matches_everything());
}

struct Check {
  std::string_view group;
  std::string_view resource;
  std::string_view selector;
  std::string_view error;  // "": none
};

const Check checks[] = {
    {"", "pods", "spec.nodeName=n1,status.phase!=Running,metadata.name=x", ""},
    {"", "pods", "spec.image=x", "field label not supported: spec.image"},
    {"", "nodes", "spec.unschedulable=true", ""},
    {"", "nodes", "status.phase=x", "field label not supported: status.phase"},
    {"", "configmaps", "metadata.namespace=x", ""},
    {"", "configmaps", "data=x",
     R"("data" is not a known field selector: only "metadata.name", "metadata.namespace")"},
};

TEST(FieldQuery, ChecksFields) {
  for (const Check& line : checks) {
    const auto done = check_fields(line.group, line.resource, *FieldQuery::parse(line.selector));
    EXPECT_EQ(done ? "" : done.error().what, line.error) << line.selector;
  }
}

TEST(FieldQuery, ValuesOfAnObject) {
  const auto query = *FieldQuery::parse("spec.nodeName=n1,status.phase=x,spec.hostNetwork=true");
  const std::string_view pod = R"({"metadata":{"name":"p"},"spec":{"nodeName":"n1"},"status":{}})";
  const StringMap pod_fields = {
      {"spec.nodeName", "n1"}, {"status.phase", ""}, {"spec.hostNetwork", "false"}};
  EXPECT_EQ(field_values("", "pods", query, pod), pod_fields);
  EXPECT_FALSE(field_values("", "nodes", query, pod).has_value());
  EXPECT_FALSE(field_values("", "pods", query, "{").has_value());
  EXPECT_EQ(field_values("", "events", *FieldQuery::parse("source=kubelet,reason!=x"),
                         R"({"source":{"component":"kubelet"},"reason":"Killing"})"),
            (StringMap{{"source", "kubelet"}, {"reason", "Killing"}}));
  EXPECT_EQ(field_values("", "nodes", *FieldQuery::parse("spec.unschedulable=true"),
                         R"({"spec":{"unschedulable":true}})"),
            (StringMap{{"spec.unschedulable", "true"}}));
}

}  // namespace
}  // namespace holdfast::sync::objects
