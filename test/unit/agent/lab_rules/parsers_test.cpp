// Small parsers of input: Go's JSON errors, continue tokens and token files.

#include <boost/json.hpp>

#include "agent/lab/rules/continue_token.h"
#include "agent/lab/rules/go_json.h"
#include "agent/lab/rules/identity.h"
#include "platform/text.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

TEST(GoJsonError, SaysWhatGoSays) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {R"({"a":[1,2.5e3,true,null,"x\u00e9\n"]})", ""},
      {"", "unexpected end of JSON input"},
      {"{", "unexpected end of JSON input"},
      {"{nope", "invalid character 'n' looking for beginning of object key string"},
      {"x", "invalid character 'x' looking for beginning of value"},
      {R"({"a" 1})", "invalid character '1' after object key"},
      {R"({"a":1 "b"})", R"(invalid character '"' after object key:value pair)"},
      {"[1 2]", "invalid character '2' after array element"},
      {"{} {}", "invalid character '{' after top-level value"},
      {"nul", "unexpected end of JSON input"},
      {"nuls", "invalid character 's' in literal null (expecting 'l')"},
      {"-a", "invalid character 'a' in numeric literal"},
      {"1.a", "invalid character 'a' after decimal point in numeric literal"},
      {R"("\q")", "invalid character 'q' in string escape code"},
      {"\"\n\"", R"(invalid character '\n' in string literal)"},
      {"\xCF<", "invalid character 'Ï' looking for beginning of value"},
      {"'", R"(invalid character '\'' looking for beginning of value)"},
  };
  for (const auto& [text, error] : cases) EXPECT_EQ(go_json_error(text), error) << text;
}

TEST(ContinueToken, IsUpstreams) {
  const ContinueToken token{211, std::string("g-66ht6\0", 8)};
  const std::string text =
      "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MjExLCJzdGFydCI6ImctNjZodDZcdTAwMDAifQ";
  EXPECT_EQ(encode_continue(token), text);
  EXPECT_EQ(parse_continue(text).value(), token);
}

TEST(ContinueToken, RefusesNonsense) {
  const std::string prefix = "invalid continue token: continue key is not valid: ";
  const std::pair<std::string, std::string> cases[] = {
      {"zzz", "invalid character 'Ï' looking for beginning of value"},
      {"!", "illegal base64 data at input byte 0"},
      {base64_encode(R"({"v":"v2","rv":1,"start":"a"})"),
       R"(server does not recognize this encoded version "v2")"},
      {base64_encode(R"({"v":"meta.k8s.io/v1","rv":0,"start":"a"})"),
       "incorrect encoded start resourceVersion (version meta.k8s.io/v1)"},
      {base64_encode(R"({"v":"meta.k8s.io/v1","rv":1,"start":""})"),
       "encoded start key empty (version meta.k8s.io/v1)"},
  };
  for (const auto& [text, why] : cases) {
    EXPECT_EQ(parse_continue(text).error(), sync::wire::status::bad_request(prefix + why)) << text;
  }
}

TEST(TokenTable, ReadsUpstreamsFiles) {
  const auto table = TokenTable::parse(
      "# people\n"
      "t1,alice,1,\"system:masters,dev\"\n"
      "\n"
      "t2,bob,2\n");
  ASSERT_TRUE(table);
  EXPECT_EQ(*table->find("t1"),
            (Identity{"alice", "1", {"system:masters", "dev", "system:authenticated"}}));
  EXPECT_EQ(*table->find("t2"), (Identity{"bob", "2", {"system:authenticated"}}));
  EXPECT_EQ(table->find("t3"), nullptr);
  EXPECT_EQ(TokenTable::parse("t1,alice").error().what,
            "token file, line 1: expected token,user,uid[,\"groups\"]");
}

TEST(Authorize, SaysWhoMayNotDoWhat) {
  const Identity bob{"bob", "", {}};
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"/api/v1/namespaces/t/pods/p/status",
       "pods \"p\" is forbidden: User \"bob\" cannot get resource \"pods/status\" in API group "
       "\"\" in the namespace \"t\""},
      {"/apis/apps/v1/deployments",
       "deployments.apps is forbidden: User \"bob\" cannot list resource \"deployments\" in API "
       "group \"apps\" at the cluster scope"},
      {"/apis", "forbidden: User \"bob\" cannot get path \"/apis\""},
  };
  for (const auto& [path, message] : cases) {
    const auto info = sync::objects::parse_request("GET", path, "");
    ASSERT_TRUE(info);
    EXPECT_EQ(authorize(bob, *info).error().message, message);
  }
  EXPECT_TRUE(authorize(bob, *sync::objects::parse_request("GET", "/healthz", "")));
  EXPECT_TRUE(authorize({"root", "", {"system:masters"}},
                        *sync::objects::parse_request("GET", "/apis", "")));
}

}  // namespace
}  // namespace holdfast::agent::lab
