// Which targets and headers may be written, and which headers must not be forwarded.

#include "platform/http/grammar.h"

#include <gtest/gtest.h>

#include "platform/http/h2/fields.h"
#include "platform/http/hops.h"
#include "platform/http/wire.h"

namespace holdfast::http {
namespace {

TEST(Grammar, TargetsAreInOriginForm) {
  for (const char* good :
       {"/", "/api/v1/pods?watch=true", "/a%20b", "/a'b\"<>|", "//a", "/a?b=/c"}) {
    EXPECT_TRUE(is_acceptable_target(good)) << good;
  }
  for (const std::string bad : {"", "a", "*", "http://x/", "/a b", "/a#b", "/a\r\nX: y", "/a\nb",
                                "/a\tb", "/\x7f", "/\xc3\xa4", "/a\x01", "?a", " /"}) {
    EXPECT_FALSE(is_acceptable_target(bad)) << bad;
  }
  EXPECT_FALSE(is_acceptable_target(std::string_view("/a\0b", 4)));
}

TEST(Grammar, WhatCannotBeWrittenIsRefusedByBothProtocols) {
  struct {
    const char* what;
    Request request;
    bool good;
  } const cases[] = {
      {"plain", {.target = "/a"}, true},
      {"a space", {.target = "/a b"}, false},
      {"a line", {.target = "/a HTTP/1.1\r\nHost: x\r\n\r\nGET /secret"}, false},
      {"no path", {.target = ""}, false},
      {"a method", {.method = Method::other, .target = "/", .method_text = "A B"}, false},
      {"a token", {.method = Method::other, .target = "/", .method_text = "M-SEARCH"}, true},
      {"a value", {.target = "/", .headers = {{"X", "a\r\nY: b"}}}, false},
      {"a zero", {.target = "/", .headers = {{"X", std::string(1, '\0')}}}, false},
      {"blanks", {.target = "/", .headers = {{"X", " a"}}}, false},
      {"a name", {.target = "/", .headers = {{"X: y\r\nZ", "a"}}}, false},
      {"no name", {.target = "/", .headers = {{"", "a"}}}, false},
      {"a pseudo header", {.target = "/", .headers = {{":path", "/b"}}}, false},
      {"a host", {.target = "/", .headers = {{"Host", "a/b"}}}, false},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.what);
    const auto bytes = request_bytes(c.request, "h:1");
    const auto fields = h2::request_fields(c.request, "h:1");
    EXPECT_EQ(bytes.has_value(), c.good);
    EXPECT_EQ(fields.has_value(), c.good);
    if (!bytes) {
      EXPECT_EQ(bytes.error().code, Errc::invalid);
    }
    if (!fields) {
      EXPECT_EQ(fields.error().code, Errc::invalid);
    }
  }
  const Request plain{.target = "/a"};
  EXPECT_FALSE(request_bytes(plain, "h\r\nX: y"));
  EXPECT_FALSE(h2::request_fields(plain, ""));
}

TEST(Grammar, ARefusalNamesNoSecret) {
  const Request request{.target = "/", .headers = {{"Authorization", "Bearer secret\n"}}};
  const auto bytes = request_bytes(request, "h");
  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().what.find("secret"), std::string::npos);
}

TEST(Grammar, AHeaderOfAnAnswerThatHttpForbidsIsLeftOut) {
  const Response response{.headers = {{"A", "b"}, {"X", "a\r\nY: b"}, {":status", "500"}}};
  EXPECT_EQ(response_head(response, Framing::length, true),
            "HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: 0\r\n\r\n");
  const Headers expected{{":status", "200"}, {"a", "b"}, {"content-length", "0"}};
  EXPECT_EQ(h2::response_fields(response), expected);
}

TEST(Grammar, HeadersOfAConnectionAreNotPassedOn) {
  const Headers all{{"Connection", "x-a, Keep-Alive, Upgrade"},
                    {"Connection", "x-b, Authorization, Impersonate-User, Content-Type"},
                    {"X-A", "1"},
                    {"X-B", "1"},
                    {"X-C", "1"},
                    {"Authorization", "a"},
                    {"Impersonate-User", "u"},
                    {"Content-Type", "t"},
                    {"Content-Length", "5"},
                    {"Expect", "100-continue"},
                    {"Keep-Alive", "timeout=5"},
                    {"Proxy-Authorization", "p"},
                    {"Proxy-Authenticate", "p"},
                    {"Proxy-Connection", "keep-alive"},
                    {"TE", "trailers"},
                    {"Trailer", "X"},
                    {"Transfer-Encoding", "chunked"},
                    {"Upgrade", "websocket"}};
  const Headers ends{
      {"X-C", "1"}, {"Authorization", "a"}, {"Impersonate-User", "u"}, {"Content-Type", "t"}};
  Headers plain = all;
  drop_hop_by_hop(plain, false);
  EXPECT_EQ(plain, ends);
  Headers upgrading = all;
  drop_hop_by_hop(upgrading, true);
  Headers expected = ends;
  expected.add("Connection", "Upgrade");
  expected.add("Upgrade", "websocket");
  EXPECT_EQ(upgrading, expected);
}

TEST(Grammar, NobodyIsUpgradedToAnotherHttp) {
  for (const char* protocol : {"h2c", "H2C", "HTTP/2.0", "TLS/1.0", "h2c, h2"}) {
    Headers headers{
        {"Upgrade", protocol}, {"Connection", "Upgrade, HTTP2-Settings"}, {"HTTP2-Settings", "a"}};
    drop_hop_by_hop(headers, true);
    EXPECT_EQ(headers.size(), 0u) << protocol;
  }
}

TEST(Grammar, ExpectIsNeverForwarded) {
  const Request request{.method = Method::post,
                        .target = "/",
                        .headers = {{"Expect", "100-continue"}, {"TE", "trailers"}, {"A", "b"}},
                        .body = "x"};
  EXPECT_EQ(request_bytes(request, "h").value(),
            "POST / HTTP/1.1\r\nHost: h\r\nA: b\r\nContent-Length: 1\r\n\r\nx");
  EXPECT_FALSE(h2::request_fields(request, "h").value().has("expect"));
}

TEST(Grammar, RequestsOverHttp2NeedAPathAndOneHost) {
  struct {
    const char* what;
    Headers fields;
    bool good;
  } const cases[] = {
      {"authority", {{":method", "GET"}, {":path", "/a"}, {":authority", "x"}}, true},
      {"host", {{":method", "GET"}, {":path", "/a"}, {"host", "x"}}, true},
      {"both", {{":method", "GET"}, {":path", "/a"}, {":authority", "x"}, {"host", "x"}}, true},
      {"two", {{":method", "GET"}, {":path", "/a"}, {":authority", "x"}, {"host", "y"}}, false},
      {"none", {{":method", "GET"}, {":path", "/a"}}, false},
      {"a bad one", {{":method", "GET"}, {":path", "/a"}, {":authority", "a@b"}}, false},
      {"a space", {{":method", "GET"}, {":path", "/a b"}, {":authority", "x"}}, false},
      {"a line", {{":method", "GET"}, {":path", "/a\r\nb"}, {":authority", "x"}}, false},
      {"a star", {{":method", "OPTIONS"}, {":path", "*"}, {":authority", "x"}}, false},
      {"a method", {{":method", "G T"}, {":path", "/a"}, {":authority", "x"}}, false},
      {"no method", {{":path", "/a"}, {":authority", "x"}}, false},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(h2::to_request(c.fields).has_value(), c.good) << c.what;
  }
}

}  // namespace
}  // namespace holdfast::http
