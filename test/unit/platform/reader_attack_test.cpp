// Messages that two parsers could interpret differently, and messages that use up memory, are
// refused.

#include <gtest/gtest.h>

#include "platform/http/reader.h"

namespace holdfast::http {
namespace {

const std::string get_a = "GET /a HTTP/1.1\r\nHost: x\r\n";
const std::string post_a = "POST /a HTTP/1.1\r\nHost: x\r\n";
const std::string ok_head = "HTTP/1.1 200 OK\r\n";

// 0 if the request is accepted, the refusal's status, or -1 if the request is incomplete.
int refusal_of(std::string_view bytes, std::size_t piece, ReaderLimits limits = {}) {
  RequestReader reader(limits);
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
    if (!reader.put(bytes.substr(0, piece))) return reader.refusal();
  }
  return reader.done() ? 0 : -1;
}

std::string result_of(std::string_view bytes, std::size_t piece, Asked asked = {},
                      ReaderLimits limits = {}) {
  ResponseReader reader(limits, asked);
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
    const Status put = reader.put(bytes.substr(0, piece));
    if (!put) return std::string(to_string(put.error().code));
  }
  if (!reader.done()) return reader.put_end() ? "until the end" : "unfinished";
  return std::to_string(reader.head().status) + (reader.keep_alive() ? " kept" : " not kept");
}

TEST(ReaderAttack, RequestsThatCouldBeReadInTwoWaysAreRefused) {
  struct {
    std::string bytes;
    int refusal;
  } const cases[] = {
      {get_a + "\r\n", 0},
      {get_a + "X: a\tb \x80\xff \r\n\r\n", 0},
      {"GET /a HTTP/1.0\r\n\r\n", 0},
      // The length of the body is ambiguous.
      {post_a + "Transfer-Encoding: xchunked\r\nContent-Length: 1\r\n\r\na", 400},
      {post_a + "Transfer-Encoding: xchunked\r\n\r\n", 400},
      {post_a + "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n", 400},
      {post_a + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 400},
      {post_a + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
      {post_a + "Transfer-Encoding:\r\n\r\n", 400},
      {post_a + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n", 400},
      {post_a + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
      {"POST /a HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
      {post_a + "Transfer-Encoding: Chunked\r\n\r\n0\r\n\r\n", 0},
      {post_a + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400},
      {post_a + "Content-Length: 1\r\nContent-Length: 1\r\n\r\na", 400},
      {post_a + "Content-Length: 1, 1\r\n\r\na", 400},
      {post_a + "Content-Length: +1\r\n\r\na", 400},
      {post_a + "Content-Length: 0x1\r\n\r\na", 400},
      {post_a + "Content-Length: 99999999999999999999\r\n\r\n", 400},
      {post_a + "Content-Length:\r\n\r\n", 400},
      // The target of the request is ambiguous.
      {"GET /a HTTP/1.1\r\n\r\n", 400},
      {"GET /a HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n", 400},
      {"GET /a HTTP/1.0\r\nHost: x\r\nHost: y\r\n\r\n", 400},
      {"GET /a HTTP/1.1\r\nHost:\r\n\r\n", 400},
      {"GET /a HTTP/1.1\r\nHost: x/y\r\n\r\n", 400},
      {"GET /a HTTP/1.1\r\nHost: x y\r\n\r\n", 400},
      {"GET /a HTTP/1.1\r\nHost: a@x\r\n\r\n", 400},
      {"GET /a HTTP/1.1\r\nHost: [::1]:80\r\n\r\n", 0},
      {get_a + "Connection: keep-\xff\r\n\r\n", 400},
      {get_a + "Connection: a b\r\n\r\n", 400},
      {get_a + "Connection: , close,\r\n\r\n", 0},
      // Malformed header lines.
      {get_a + " X: folded\r\n\r\n", 400},
      {get_a + "X: a\r\n b\r\n\r\n", 400},
      {get_a + "X : a\r\n\r\n", 400},
      {get_a + "X\r\n\r\n", 400},
      {get_a + ": a\r\n\r\n", 400},
      {get_a + "X(y): a\r\n\r\n", 400},
      {get_a + "X: a\rb\r\n\r\n", 400},
      {get_a + "X: a\nY: b\r\n\r\n", 400},
      {get_a + std::string("X: a\0b\r\n\r\n", 10), 400},
      {get_a + "X: a\x7f\r\n\r\n", 400},
      {get_a + std::string("X\0: b\r\n\r\n", 9), 400},
      {get_a + "\n", 400},
      {"\r\n" + get_a + "\r\n", 400},
      // Malformed request lines.
      {"GET  /a HTTP/1.1\r\nHost: x\r\n\r\n", 400},
      {"GET /a b HTTP/1.1\r\nHost: x\r\n\r\n", 400},
      {"GET /a\tb HTTP/1.1\r\nHost: x\r\n\r\n", 400},
      {"GET /a#b HTTP/1.1\r\nHost: x\r\n\r\n", 400},
      {"GET /\xc3\xa4 HTTP/1.1\r\nHost: x\r\n\r\n", 400},
      {"GET /\x7f HTTP/1.1\r\nHost: x\r\n\r\n", 400},
      {"GET a HTTP/1.1\r\nHost: x\r\n\r\n", 400},
      {"GET http://x/a HTTP/1.1\r\nHost: x\r\n\r\n", 400},
      {"GET * HTTP/1.1\r\nHost: x\r\n\r\n", 400},
      {"G T /a HTTP/1.1\r\nHost: x\r\n\r\n", 400},
      {"GET /a HTTP/1.1 \r\nHost: x\r\n\r\n", 400},
      {"GET /a HTTP/2.0\r\nHost: x\r\n\r\n", 400},
      {"GET /a http/1.1\r\nHost: x\r\n\r\n", 400},
      {"GET /a\r\nHost: x\r\n\r\n", 400},
      {"\x16\x03\x01\x02", 400},
  };
  for (const auto& c : cases) {
    for (const std::size_t piece : std::initializer_list<std::size_t>{1, 3, c.bytes.size()}) {
      EXPECT_EQ(refusal_of(c.bytes, piece), c.refusal) << c.bytes << " by " << piece;
    }
  }
}

TEST(ReaderAttack, ChunksAreTakenAsTheyAreWrittenOrNotAtAll) {
  const std::string chunked = post_a + "Transfer-Encoding: chunked\r\n\r\n";
  struct {
    std::string bytes;
    int refusal;
  } const cases[] = {
      {"1;a=b;c=\"d\\\"; e\"\r\nx\r\n0\r\n\r\n", 0},
      {"1 ; a = b\r\nx\r\n0;z\r\nA: b\r\nC: d\r\n\r\n", 0},
      {"1 \r\nx\r\n0\r\n\r\n", 400},
      {" 1\r\nx\r\n0\r\n\r\n", 400},
      {"1a;\r\n", 400},
      {"1;a=\r\nx\r\n0\r\n\r\n", 400},
      {"1;a=\"\r\nx\r\n0\r\n\r\n", 400},
      {"1\nx\n0\n\n", 400},
      {"1;a\nb\r\nx\r\n0\r\n\r\n", 400},
      {"1\r\nxy\r\n0\r\n\r\n", 400},
      {"1\r\nx0\r\n\r\n", 400},
      {"-1\r\nx\r\n0\r\n\r\n", 400},
      {"0x1\r\nx\r\n0\r\n\r\n", 400},
      {"\r\nx\r\n", 400},
      {"00000000000000001\r\nx\r\n0\r\n\r\n", 400},
      {"ffffffffffffffff\r\n", 413},
      {"1\r\nx\r\nffffffffffffffff\r\n", 413},
      {"0\r\nA b\r\n\r\n", 400},
      {"0\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
      {"0\r\nContent-Length: 5\r\n\r\n", 400},
      {"0\r\nA: b\r\n c\r\n\r\n", 400},
      {"0\r\nA: b\x01\r\n\r\n", 400},
  };
  for (const auto& c : cases) {
    const std::string all = chunked + c.bytes;
    for (const std::size_t piece : std::initializer_list<std::size_t>{1, 3, all.size()}) {
      EXPECT_EQ(refusal_of(all, piece), c.refusal) << c.bytes << " by " << piece;
    }
  }
}

TEST(ReaderAttack, WhatSurroundsABodyIsBounded) {
  const ReaderLimits limits{
      .header_bytes = 200,
      .body_bytes = 50,
      .header_fields = 5,
      .chunks = {.line_bytes = 20, .extension_bytes = 40, .trailer_bytes = 30}};
  const std::string chunked = "Transfer-Encoding: chunked\r\n\r\n";
  std::string extensions;
  for (int i = 0; i < 20; ++i) extensions += "1;abc\r\nx\r\n";
  std::string trailers;
  for (int i = 0; i < 8; ++i) trailers += "A: b\r\n";
  struct {
    const char* what;
    std::string bytes;
    int refusal;
    std::string result;
  } const cases[] = {
      {"a header without end", std::string(1000, 'a') + ": ", 431, "exhausted"},
      {"a value without end", "X: " + std::string(1000, 'a'), 431, "exhausted"},
      {"many headers", "A:\r\nB:\r\nC:\r\nD:\r\nE:\r\nF:\r\n\r\n", 431, "exhausted"},
      {"one extension", chunked + "1;" + std::string(1000, 'a'), 431, "exhausted"},
      {"zeros", chunked + std::string(1000, '0'), 431, "exhausted"},
      {"many extensions", chunked + extensions, 431, "exhausted"},
      {"one trailer", chunked + "0\r\nA: " + std::string(1000, 'a'), 431, "exhausted"},
      {"many trailers", chunked + "0\r\n" + trailers, 431, "exhausted"},
      {"many chunks", chunked + "28\r\n" + std::string(40, 'a') + "\r\n28\r\n", 413, "exhausted"},
      {"a body", "Content-Length: 51\r\n\r\n", 413, "exhausted"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.what);
    for (const std::size_t piece : std::initializer_list<std::size_t>{1, 3, c.bytes.size()}) {
      EXPECT_EQ(refusal_of(post_a + c.bytes, piece, limits), c.refusal) << piece;
      EXPECT_EQ(result_of(ok_head + c.bytes, piece, {}, limits), c.result) << piece;
    }
  }
}

TEST(ReaderAttack, TrailersAreNoHeaders) {
  RequestReader reader{ReaderLimits{}};
  ASSERT_TRUE(
      reader.put(post_a + "Transfer-Encoding: chunked\r\n\r\n0\r\nImpersonate-User: a\r\n\r\n"));
  bool keep_alive = false;
  EXPECT_FALSE(reader.take(keep_alive).headers.has("impersonate-user"));
}

TEST(ReaderAttack, AnswersThatCouldBeReadInTwoWaysAreRefused) {
  const std::string early = "HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n";
  std::string many;
  for (int i = 0; i < 17; ++i) many += early;
  const Asked head{.head = true};
  const Asked upgrade{.upgrade = true};
  struct {
    std::string bytes;
    std::string result;
    Asked asked = {};
  } const cases[] = {
      {ok_head + "Content-Length: 1\r\n\r\na", "200 kept"},
      {ok_head + "Content-Length: 1\r\n\r\nab", "200 not kept"},
      {ok_head + "Content-Length: 1\r\nConnection: close\r\n\r\na", "200 not kept"},
      {ok_head + "Content-Length: 0\r\nConnection: x, Close\r\n\r\n", "200 not kept"},
      {"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", "200 not kept"},
      {"HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 0\r\n\r\n", "200 kept"},
      {ok_head + "\r\nabc", "until the end"},
      {ok_head + "Content-Length: 5\r\n\r\nabc", "unfinished"},
      {ok_head + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", "unfinished"},
      // Interim responses.
      {"HTTP/1.1 100 Continue\r\n\r\n" + ok_head + "Content-Length: 0\r\n\r\n", "200 kept"},
      {early + early + ok_head + "Content-Length: 0\r\n\r\n", "200 kept"},
      {early, "unfinished"},
      {many + ok_head + "Content-Length: 0\r\n\r\n", "exhausted"},
      {"HTTP/1.1 101 x\r\nUpgrade: t\r\n\r\n", "corrupt"},
      {"HTTP/1.1 101 x\r\nUpgrade: t\r\n\r\n", "101 not kept", upgrade},
      {early + "HTTP/1.1 101 x\r\nUpgrade: t\r\n\r\nbytes", "101 not kept", upgrade},
      // Responses without a body.
      {ok_head + "Content-Length: 5\r\n\r\n", "200 kept", head},
      {ok_head + "Transfer-Encoding: chunked\r\n\r\n", "200 kept", head},
      {ok_head + "Content-Length: 1\r\n\r\na", "200 not kept", head},
      {ok_head + "\r\n", "200 kept", head},
      {"HTTP/1.1 204 x\r\n\r\n", "204 kept"},
      {"HTTP/1.1 204 x\r\nContent-Length: 0\r\n\r\n", "204 kept"},
      {"HTTP/1.1 204 x\r\nContent-Length: 5\r\n\r\n", "204 not kept"},
      {"HTTP/1.1 204 x\r\nTransfer-Encoding: chunked\r\n\r\n", "204 not kept"},
      {"HTTP/1.1 304 x\r\nContent-Length: 5\r\n\r\n", "304 kept"},
      // Malformed responses.
      {ok_head + "Transfer-Encoding: xchunked\r\n\r\n", "corrupt"},
      {ok_head + "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n", "corrupt"},
      {"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "corrupt"},
      {ok_head + "Content-Length: 1\r\nContent-Length: 1\r\n\r\n", "corrupt"},
      {ok_head + "Content-Length: a\r\n\r\n", "corrupt", head},
      {ok_head + "X: a\r\n b\r\n\r\n", "corrupt"},
      {ok_head + "X: a\nb\r\n\r\n", "corrupt"},
      {ok_head + "X y: a\r\n\r\n", "corrupt"},
      {"HTTP/1.1 20 OK\r\n\r\n", "corrupt"},
      {"HTTP/1.1 2000 OK\r\n\r\n", "corrupt"},
      {"HTTP/1.1 099 OK\r\n\r\n", "corrupt"},
      {"HTTP/1.1 200\r\n\r\n", "corrupt"},
      {"HTTP/2 200 OK\r\n\r\n", "corrupt"},
      {"SSH-2.0-x\r\n", "corrupt"},
  };
  for (const auto& c : cases) {
    for (const std::size_t piece : std::initializer_list<std::size_t>{1, 3, c.bytes.size()}) {
      EXPECT_EQ(result_of(c.bytes, piece, c.asked), c.result) << c.bytes << " by " << piece;
    }
  }
}

TEST(ReaderAttack, AnEndlessBodyIsTakenButNotWhatSurroundsIt) {
  const ReaderLimits limits{.body_bytes = 100, .chunks = {.extension_bytes = 1000}};
  ResponseReader reader(limits, {});
  ASSERT_TRUE(reader.put(ok_head + "Transfer-Encoding: chunked\r\n\r\n"));
  reader.allow_endless_body();
  std::size_t taken = 0;
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(reader.put("0000000a\r\n0123456789\r\n"));
    taken += reader.take_body().size();
  }
  EXPECT_EQ(taken, 1000u);
  Status put;
  for (int i = 0; i < 200 && put; ++i) put = reader.put("1;abcdefghi\r\nx\r\n");
  ASSERT_FALSE(put);
  EXPECT_EQ(put.error().code, Errc::exhausted);
}

}  // namespace
}  // namespace holdfast::http
