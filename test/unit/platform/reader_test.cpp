// HTTP/1.1 messages that arrive in pieces.

#include "platform/http/reader.h"

#include <gtest/gtest.h>

namespace holdfast::http {
namespace {

// The result of reading requests that arrive in these pieces: "GET /a body" or the refusal for
// each, then the bytes that are left.
std::string read_request(const std::vector<std::string_view>& pieces) {
  RequestReader reader{ReaderLimits{}};
  std::string heard;
  for (const std::string_view piece : pieces) {
    Status put = reader.put(piece);
    while (put && reader.done()) {
      bool keep_alive = false;
      const Request request = reader.take(keep_alive);
      heard += request.method_text + " " + request.target + " " + request.body + "\n";
      put = reader.put("");
    }
    if (!put) return heard + "refused " + std::to_string(reader.refusal());
  }
  return heard + reader.take_rest();
}

std::string read_response(const std::vector<std::string_view>& pieces) {
  ResponseReader reader(ReaderLimits{}, Asked{});
  std::string body;
  for (const std::string_view piece : pieces) {
    if (!reader.put(piece)) return body + "refused";
    if (reader.header_done()) body += reader.take_body();
  }
  if (!reader.done()) return body + "unfinished";
  return std::to_string(reader.head().status) + " " + body + reader.take_rest();
}

struct Case {
  const char* what;
  std::string bytes;
  std::string heard;
};

template <class Read>
void check_all_cuts(const Case& c, Read read) {
  SCOPED_TRACE(c.what);
  const std::string_view all = c.bytes;
  EXPECT_EQ(read({all}), c.heard);
  for (std::size_t first = 0; first <= all.size(); ++first) {
    for (std::size_t second = first; second <= all.size(); ++second) {
      ASSERT_EQ(read({all.substr(0, first), all.substr(first, second - first), all.substr(second)}),
                c.heard)
          << "cut at " << first << " and " << second;
    }
  }
  std::vector<std::string_view> bytes;
  for (std::size_t i = 0; i < all.size(); ++i) bytes.push_back(all.substr(i, 1));
  EXPECT_EQ(read(bytes), c.heard) << "byte by byte";
}

TEST(Reader, RequestsCutAnywhereComeOutWhole) {
  const std::string chunked = "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  const Case cases[] = {
      {"no body", "GET /a HTTP/1.1\r\nHost: x\r\n\r\n", "GET /a \n"},
      {"a body", "PUT /a HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", "PUT /a abc\n"},
      {"chunks", chunked + "2\r\nab\r\n1;x=y\r\nc\r\n0\r\n\r\n", "POST /a abc\n"},
      {"an empty body in chunks", chunked + "0\r\n\r\n", "POST /a \n"},
      {"the same with zeros", chunked + "000\r\n\r\n", "POST /a \n"},
      {"the same with a trailer", chunked + "0\r\nA: b\r\n\r\n", "POST /a \n"},
      {"the same, then another", chunked + "0\r\n\r\nGET /b HTTP/1.1\r\nHost: x\r\n\r\n",
       "POST /a \nGET /b \n"},
      {"two chunked", chunked + "1\r\na\r\n0\r\n\r\n" + chunked + "0\r\n\r\n",
       "POST /a a\nPOST /a \n"},
      {"no number of bytes", chunked + "xyz\r\n\r\n", "refused 400"},
  };
  for (const Case& c : cases) check_all_cuts(c, read_request);
}

TEST(Reader, AnswersCutAnywhereComeOutWhole) {
  const std::string chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  const Case cases[] = {
      {"no body", "HTTP/1.1 204 No Content\r\n\r\n", "204 "},
      {"a body", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", "200 abc"},
      {"chunks", chunked + "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n", "200 abcde"},
      {"an empty body in chunks", chunked + "0\r\n\r\n", "200 "},
      {"the same with a trailer", chunked + "0\r\nA: b\r\n\r\n", "200 "},
  };
  for (const Case& c : cases) check_all_cuts(c, read_response);
}

constexpr ReaderLimits stopping{.body_bytes = 100, .stop_after_header = true};
const std::string post_x = "POST /a HTTP/1.1\r\nHost: x\r\n";

TEST(Reader, ABodyThatOnlyEndsWithItsConnectionIsMarked) {
  const struct {
    std::string head;
    bool ends_with_connection;
  } rows[] = {
      {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", false},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", false},
      {"HTTP/1.1 204 No Content\r\n\r\n", false},
      {"HTTP/1.1 200 OK\r\n\r\n", true},
      {"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", true},
  };
  for (const auto& row : rows) {
    ResponseReader reader(ReaderLimits{}, Asked{});
    ASSERT_TRUE(reader.put(row.head)) << row.head;
    ASSERT_TRUE(reader.header_done()) << row.head;
    EXPECT_EQ(reader.head().ends_with_connection, row.ends_with_connection) << row.head;
  }
}

TEST(Reader, AHeaderIsThereBeforeItsBodyIsRead) {
  RequestReader reader(stopping);
  ASSERT_TRUE(reader.put(post_x + "Expect: 100-continue\r\nContent-Length: 5\r\n"));
  EXPECT_FALSE(reader.header_done());
  ASSERT_TRUE(reader.put("\r\nab"));
  ASSERT_TRUE(reader.header_done());
  EXPECT_FALSE(reader.done());
  EXPECT_EQ(reader.head().target, "/a");
  EXPECT_EQ(reader.head().method, Method::post);
  EXPECT_EQ(reader.head().headers.get("content-length"), "5");
  EXPECT_EQ(reader.body_size(), 2u);
  EXPECT_FALSE(reader.take_expectation());
  ASSERT_TRUE(reader.put("c"));
  EXPECT_EQ(reader.body_size(), 3u);
  reader.accept_body(5);
  EXPECT_TRUE(reader.take_expectation());
  EXPECT_FALSE(reader.take_expectation());
  ASSERT_TRUE(reader.put(""));
  EXPECT_FALSE(reader.done());
  EXPECT_EQ(reader.body_size(), 3u);
  ASSERT_TRUE(reader.put("deGET /b HTTP/1.1\r\nHost: x\r\n\r\n"));
  ASSERT_TRUE(reader.done());
  bool keep_alive = false;
  EXPECT_EQ(reader.take(keep_alive).body, "abcde");
  EXPECT_TRUE(keep_alive);
  ASSERT_TRUE(reader.put(""));
  ASSERT_TRUE(reader.header_done());
  EXPECT_EQ(reader.head().target, "/b");
  EXPECT_FALSE(reader.done()) << "done() needs accept_body() even if there is no body";
  reader.accept_body(0);
  ASSERT_TRUE(reader.put(""));
  EXPECT_TRUE(reader.done());
}

TEST(Reader, ABodyLongerThanAcceptedIsRefusedBeforeItIsKept) {
  struct {
    const char* what;
    std::string bytes;
    std::size_t accepted;
    bool refused;
  } const cases[] = {
      {"its length", "Content-Length: 11\r\n\r\nabc", 10, true},
      {"a length within", "Content-Length: 10\r\n\r\nabc", 10, false},
      {"more than the reader's own limit", "Content-Length: 200\r\n\r\nabc", 300, false},
      {"a chunk", "Transfer-Encoding: chunked\r\n\r\nb\r\nabc", 10, true},
      {"the second chunk", "Transfer-Encoding: chunked\r\n\r\n9\r\n123456789\r\n2\r\n", 10, true},
      {"a body where none is wanted", "Content-Length: 1\r\n\r\n", 0, true},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.what);
    RequestReader reader(stopping);
    ASSERT_TRUE(reader.put(post_x + c.bytes));
    reader.accept_body(c.accepted);
    const Status put = reader.put("");
    EXPECT_EQ(put.has_value(), !c.refused);
    if (!c.refused) continue;
    EXPECT_EQ(put.error().code, Errc::exhausted);
    EXPECT_EQ(reader.refusal(), 413);
    EXPECT_LE(reader.body_size(), 9u);
  }
}

TEST(Reader, BytesThatWaitAreBounded) {
  RequestReader reader(ReaderLimits{.pending_bytes = 100, .stop_after_header = true});
  ASSERT_TRUE(reader.put(post_x + "Content-Length: 500\r\n\r\n"));
  ASSERT_TRUE(reader.put(std::string(100, 'a')));
  EXPECT_FALSE(reader.put("a"));
  EXPECT_EQ(reader.refusal(), 413);
}

}  // namespace
}  // namespace holdfast::http
