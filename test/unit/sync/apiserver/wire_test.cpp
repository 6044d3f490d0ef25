// Small parsers of input: Go's JSON errors, continue tokens, token files, protobuf; and ages in the
// format for people.

#include <boost/json.hpp>

#include "platform/text.h"
#include "sync/apiserver/age.h"
#include "sync/apiserver/go_json.h"
#include "sync/apiserver/identity.h"
#include "sync/apiserver/paging.h"
#include "sync/schema/protobuf.h"
#include "sync/schema/protobuf_write.h"

namespace holdfast::sync {
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

TEST(Protobuf, WhatIsWrittenIsReadAgain) {
  const json::object pod =
      json::parse(R"({"metadata":{"name":"a","labels":{"x":"y"}},"spec":{"priority":-5,)"
                  R"("containers":[{"name":"c","env":[{"name":"A","valueFrom":{"secretKeyRef":)"
                  R"({"name":"s","key":"k"}}}],"resources":{"limits":{"cpu":"1"}}}]},)"
                  R"("status":{"startTime":"2024-01-01T00:00:00Z"}})")
          .as_object();
  const StructType& type = known_type("Pod");
  EXPECT_EQ(*read_protobuf(type, *write_protobuf(type, pod)), pod);
  const auto wrong = write_protobuf(type, json::object{{"spec", json::object{{"nodeName", 1}}}});
  EXPECT_EQ(wrong.error(), (Error{Errc::invalid, "nodeName: not a string"}));
  EXPECT_FALSE(to_protobuf(R"({"kind":"Nobody"})").has_value());
  EXPECT_FALSE(to_protobuf("{").has_value());
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
    EXPECT_EQ(parse_continue(text).error(), status::bad_request(prefix + why)) << text;
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
    const auto info = parse_request("GET", path, "");
    ASSERT_TRUE(info);
    EXPECT_EQ(authorize(bob, *info).error().message, message);
  }
  EXPECT_TRUE(authorize(bob, *parse_request("GET", "/healthz", "")));
  EXPECT_TRUE(authorize({"root", "", {"system:masters"}}, *parse_request("GET", "/apis", "")));
}

TEST(HumanDuration, HasTwoUnitsAtMost) {
  using namespace std::chrono_literals;
  const std::pair<Duration, std::string_view> cases[] = {
      {-2s, "<invalid>"}, {-1s, "0s"},         {0s, "0s"},          {119s, "119s"},
      {120s, "2m"},       {5min + 3s, "5m3s"}, {10min + 5s, "10m"}, {179min, "179m"},
      {3h, "3h"},         {7h + 5min, "7h5m"}, {8h + 5min, "8h"},   {47h, "47h"},
      {49h, "2d1h"},      {8 * 24h, "8d"},     {700 * 24h, "700d"}, {731 * 24h, "2y1d"},
      {3000 * 24h, "8y"},
  };
  for (const auto& [duration, text] : cases) EXPECT_EQ(human_duration(duration), text);
}

// A ConfigMap that kubectl 1.32 sent: name zz, data a=b.
constexpr std::string_view config_map(
    "k8s\0\x0a\x0f\x0a\x02v1\x12\x09"
    "ConfigMap\x12\x1c\x0a\x12\x0a\x02zz\x12\x00\x1a\x00\"\x00*\x00\x32\x00\x38\x00\x42\x00"
    "\x12\x06\x0a\x01"
    "a\x12\x01"
    "b\x1a\x00\"\x00",
    53);

TEST(Protobuf, ReadsWhatKubectlSends) {
  const auto envelope = unwrap_protobuf(config_map);
  ASSERT_TRUE(envelope);
  EXPECT_EQ(envelope->api_version, "v1");
  EXPECT_EQ(envelope->kind, "ConfigMap");
  const auto object = read_protobuf(known_type("ConfigMap"), envelope->bytes);
  ASSERT_TRUE(object) << object.error().what;
  EXPECT_EQ(json::serialize(*object),
            R"({"metadata":{"name":"zz","generateName":"","namespace":"","selfLink":"","uid":"",)"
            R"("resourceVersion":"","generation":0,"creationTimestamp":null},"data":{"a":"b"}})");
}

TEST(Protobuf, ReadsEmbeddedMessagesAsJsonShowsThem) {
  // Probe{handler{tcpSocket{port 80}}, periodSeconds 5}
  const std::string_view probe("\x0a\x08\x1a\x06\x0a\x04\x08\x00\x10\x50\x20\x05", 12);
  const auto object = read_protobuf(known_type("Probe"), probe);
  ASSERT_TRUE(object) << object.error().what;
  EXPECT_EQ(json::serialize(*object), R"({"tcpSocket":{"port":80},"periodSeconds":5})");
}

TEST(Protobuf, RefusesBrokenBytes) {
  const StructType& type = known_type("ConfigMap");
  EXPECT_EQ(unwrap_protobuf("{}").error().what,
            "provided data does not appear to be a protobuf message, expected prefix "
            "[107 56 115 0]");
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"\x0a", "proto: unexpected EOF"},
      {"\x0a\x05", "proto: unexpected EOF"},
      {"\x0b", "proto: illegal wireType"},
      {std::string_view("\x00\x00", 2), "proto: illegal tag"},
      {"\x0a\x04\x0a\x02\xC3\x28", "proto: invalid UTF-8"},
      {"\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", "proto: integer overflow"},
  };
  for (const auto& [bytes, error] : cases) {
    EXPECT_EQ(read_protobuf(type, bytes).error(), (Error{Errc::invalid, std::string(error), {}}));
  }
  for (std::size_t length = 0; length < config_map.size(); ++length) {
    const auto envelope = unwrap_protobuf(config_map.substr(0, length));
    if (envelope) (void)read_protobuf(type, envelope->bytes);  // It must only not crash.
  }
}

}  // namespace
}  // namespace holdfast::sync
