// Requests whose end or whose target two HTTP parsers may interpret differently.

#include "test/attack/attack_fixture.h"

namespace holdfast::attack {
namespace {

struct Malformed {
  const char* name;
  std::string head;  // after the request line
  std::string body = {};
};

std::vector<Malformed> malformed(const std::string& host) {
  const std::string good = "Host: " + host + "\r\n";
  const std::string chunks = "0\r\n\r\n";
  const std::string length = "Content-Length: 5\r\n";
  return {
      {"xchunked and a length", good + "Transfer-Encoding: xchunked\r\n" + length, chunks},
      {"xchunked", good + "Transfer-Encoding: xchunked\r\n", chunks},
      {"chunked twice", good + "Transfer-Encoding: chunked, chunked\r\n", chunks},
      {"chunked, then another", good + "Transfer-Encoding: chunked, identity\r\n", chunks},
      {"chunked and a length", good + "Transfer-Encoding: chunked\r\n" + length, chunks},
      {"two lengths", good + length + "Content-Length: 6\r\n", chunks},
      {"a signed length", good + "Content-Length: +5\r\n", chunks},
      {"a negative length", good + "Content-Length: -5\r\n", chunks},
      {"a huge length", good + "Content-Length: 99999999999999999999999\r\n", chunks},
      {"a space before the colon", good + "Content-Length : 5\r\n", chunks},
      {"a folded header", good + "X: a\r\n b\r\n" + length, chunks},
      {"a control character",
       good +
           "X: a\x01"
           "b\r\n" +
           length,
       chunks},
      {"no host", length, chunks},
      {"two hosts", good + good + length, chunks},
      {"two hosts that differ", good + "Host: other\r\n" + length, chunks},
      {"an empty name", good + ": x\r\n" + length, chunks},
      {"a bare line feed", "Host: " + host + "\nX: y\r\n" + length, chunks},
      {"a bad chunk size", good + "Transfer-Encoding: chunked\r\n", "0x5\r\nabcde\r\n0\r\n\r\n"},
      {"a huge chunk size", good + "Transfer-Encoding: chunked\r\n",
       "fffffffffffffffff\r\nabcde\r\n0\r\n\r\n"},
  };
}

// The lab's audit log must not contain the second request that hides behind each malformed one.
TEST_F(Attack, MessagesOfTwoMeaningsAreRefused) {
  ASSERT_NO_FATAL_FAILURE(start_all());
  for (const std::uint16_t port : {edge_port, admin_port}) {
    const std::string host = "127.0.0.1:" + std::to_string(port);
    for (const Malformed& one : malformed(host)) {
      const std::string behind = text_of({.target = "/version?behind=1"}, port);
      const std::string bytes =
          "POST " + events_path + " HTTP/1.1\r\n" + one.head + "\r\n" + one.body + behind;
      const Answer answer = parse_answer(converse(port, bytes, 3s));
      EXPECT_EQ(answer.status, 400) << one.name << (port == edge_port ? "" : " (admin)");
      EXPECT_TRUE(edge->running()) << one.name;
    }
  }
  const std::string audit = read_file(file("audit"));
  EXPECT_EQ(audit.find("behind=1"), std::string::npos) << "the hidden request was performed";
  EXPECT_EQ(performed_as_node(events_path, "create"), 0u);
  expect_root_is_served();
}

}  // namespace
}  // namespace holdfast::attack
