// Names, labels and keys, with upstream's messages.

#include "sync/objects/name.h"

namespace holdfast::sync::objects {
namespace {

TEST(Name, GoodOnes) {
  const std::string longest(63, 'a');
  for (const std::string& name : {std::string("a"), std::string("0-9"), longest}) {
    EXPECT_EQ(check_dns1123_label(name), Reasons{}) << name;
    EXPECT_EQ(check_dns1123_subdomain(name + "." + name), Reasons{}) << name;
    EXPECT_EQ(check_qualified_name("example.com/" + name), Reasons{}) << name;
    EXPECT_EQ(check_label_value(name), Reasons{}) << name;
  }
  EXPECT_EQ(check_qualified_name("A_b.C-1"), Reasons{});
  EXPECT_EQ(check_label_value(""), Reasons{});
  EXPECT_EQ(check_config_key("a_B-1.txt"), Reasons{});
  EXPECT_EQ(check_env_name("_A.b-1"), Reasons{});
  EXPECT_EQ(check_path_segment("a:b"), Reasons{});
  EXPECT_EQ(check_dns1035_label("svc-1"), Reasons{});
}

const std::string subdomain =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const std::string label =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const std::string qualified =
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end "
    "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

struct BadName {
  Reasons (*check)(std::string_view);
  std::string value;
  Reasons reasons;
};

const BadName bad_names[] = {
    {check_dns1123_subdomain, "Bad_Name", {subdomain}},
    {check_dns1123_subdomain, "", {subdomain}},
    {check_dns1123_subdomain, "a..b", {subdomain}},
    {check_dns1123_subdomain, "-a", {subdomain}},
    {check_dns1123_subdomain, std::string(254, 'a'), {"must be no more than 253 characters"}},
    {check_dns1123_label, "A", {label}},
    {check_dns1123_label, "a.b", {"must not contain dots"}},
    {check_dns1123_label, std::string(64, 'a'), {"must be no more than 63 characters"}},
    {check_dns1035_label,
     "1a",
     {"a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
      "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or "
      "'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"}},
    {check_qualified_name, "", {"name part must be non-empty", qualified}},
    {check_qualified_name, "/a", {"prefix part must be non-empty"}},
    {check_qualified_name, "B/a b", {"prefix part " + subdomain, qualified}},
    {check_config_key, "..", {"must not be '..'"}},
    {check_config_key, "..a", {"must not start with '..'"}},
    {check_config_key,
     "a/b",
     {"a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. "
      "'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is "
      "'[-._a-zA-Z0-9]+')"}},
    {check_env_name,
     "1A",
     {"a valid environment variable name must consist of alphabetic characters, digits, '_', '-', "
      "or '.', and must not start with a digit (e.g. 'my.env-name',  or 'MY_ENV.NAME',  or "
      "'MyEnvName1', regex used for validation is '[-._a-zA-Z][-._a-zA-Z0-9]*')"}},
    {check_path_segment, "..", {"may not be '..'"}},
    {check_path_segment, "a/%", {"may not contain '/'", "may not contain '%'"}},
};

TEST(Name, BadOnesAreWordedAsUpstream) {
  for (const BadName& bad : bad_names) EXPECT_EQ(bad.check(bad.value), bad.reasons) << bad.value;
}

TEST(Name, LabelsAndAnnotations) {
  EXPECT_EQ(check_labels({{"a", "1"}, {"b/c", ""}}, "metadata.labels"), wire::FieldErrors{});
  EXPECT_EQ(check_labels({{"/a", "1"}}, "metadata.labels"),
            (wire::FieldErrors{
                wire::field::invalid("metadata.labels", "/a", "prefix part must be non-empty")}));
  EXPECT_EQ(check_labels({{"a", "-"}}, "metadata.labels").size(), 1u);
  EXPECT_EQ(check_annotations({{"A/b", "anything goes"}}, "metadata.annotations"),
            wire::FieldErrors{});
  EXPECT_EQ(check_annotations({{"a", std::string(256UL << 10, 'x')}}, "metadata.annotations"),
            (wire::FieldErrors{wire::field::too_long("metadata.annotations", 262144)}));
}

}  // namespace
}  // namespace holdfast::sync::objects
