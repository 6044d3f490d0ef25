// Attempts to get or to inject an answer that belongs to another caller.

#include <poll.h>

#include "test/attack/attack_fixture.h"

namespace holdfast::attack {
namespace {

const std::string treasure_path = secrets_path + "/treasure";
const std::string plain_agent = "kubectl/v1.32.4 (linux/amd64)";  // the agent caches nothing for it

// Requests, sent as Alice, that may provoke a second answer.
std::vector<Ask> provocations() {
  // A body so large that the server receives the headers before the body.
  const std::string body = event_body("by-alice") + std::string(400 * 1024, ' ');
  return {
      {.target = events_path, .method = "POST", .body = body, .headers = {"Expect: 100-continue"}},
      {.target = events_path, .method = "PUT", .body = body, .headers = {"Expect: 100-Continue"}},
      {.target = "/version", .headers = {"Expect: 100-continue"}},
      {.target = events_path,
       .method = "POST",
       .body = body,
       .headers = {"Connection: Expect", "Expect: 100-continue"}},
      {.target = "/version", .headers = {"Upgrade: websocket", "Connection: Upgrade"}},
      {.target = "/version",
       .headers = {"Upgrade: h2c", "Connection: Upgrade, HTTP2-Settings",
                   "HTTP2-Settings: AAMAAABkAAQAAP__"}},
      {.target = "/version", .headers = {"TE: trailers", "Connection: TE"}},
      {.target = "/version", .method = "HEAD"},
  };
}

TEST_F(Attack, NobodyGetsTheAnswerOfAnother) {
  ASSERT_NO_FATAL_FAILURE(start_all());
  const std::uint16_t port = edge_port;
  for (const Ask& one : provocations()) {
    Ask provoking = one;
    provoking.bearer = "alice-token";
    provoking.user_agent = plain_agent;
    provoking.limit = one.method == "HEAD" ? 300ms : 2s;
    const std::string what =
        one.method + " " + one.target + " " + (one.headers.empty() ? "" : one.headers[0]);
    for (int round = 0; round < 3; ++round) {
      (void)ask_as_nobody(port, provoking);
      const Ask admins{
          .target = treasure_path, .bearer = "admin-token", .user_agent = plain_agent, .limit = 3s};
      const Answer admin = ask(port, admins);
      EXPECT_TRUE(admin.status == 200 && admin.has(treasure)) << what << ": " << admin.head;
      const Answer node =
          ask(port, {.target = treasure_path, .user_agent = plain_agent, .limit = 3s});
      EXPECT_TRUE(node.status == 200 && node.has(treasure)) << what << ": " << node.head;
      (void)ask_as_nobody(port, {.target = "/version", .bearer = "alice-token", .limit = 2s});
      const Answer alice = ask_as_nobody(port, {.target = treasure_path,
                                                .bearer = "alice-token",
                                                .user_agent = plain_agent,
                                                .limit = 3s});
      EXPECT_TRUE(alice.status == 403) << what << ": " << alice.status;
      EXPECT_FALSE(alice.has(treasure)) << what << ": Alice was given the Secret";
    }
    if (HasFailure()) return note(what);
  }
}

// A response of a hostile API server to Alice, part of which is meant for the next caller.
struct Trick {
  const char* name;
  std::string bytes;
  std::string later = {};  // sent slightly later
};

std::vector<Trick> tricks() {
  const std::string good = answer_text(200, R"({"for":"alice"})");
  const std::string foreign = answer_text(200, R"({"for":"FOREIGN"})");
  const std::string interim = "HTTP/1.1 100 Continue\r\n\r\n";
  return {
      {"two answers", good + foreign},
      {"interim, then two", interim + good + foreign},
      {"many interim", interim + interim + interim + good},
      {"early hints", "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + good + foreign},
      {"another answer, later", good, foreign},
      {"interim, then another, later", interim, good + foreign},
      {"early hints, then another, later", "HTTP/1.1 103 Early Hints\r\n\r\n", foreign},
      {"processing, later", "HTTP/1.1 102 Processing\r\n\r\n", good + foreign},
      {"extra bytes", good + "\r\n\r\n"},
      {"extra line", good + "FOREIGN"},
      {"204 with a body",
       "HTTP/1.1 204 No\r\nAudit-Id: 1\r\nContent-Length: 400\r\n\r\n" + foreign},
      {"304 with a body",
       "HTTP/1.1 304 No\r\nAudit-Id: 1\r\nContent-Length: 400\r\n\r\n" + foreign},
      {"101 unasked",
       "HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n" + foreign},
      {"two lengths",
       "HTTP/1.1 200 OK\r\nAudit-Id: 1\r\nContent-Length: 2\r\nContent-Length: 300"
       "\r\n\r\n{}" +
           foreign},
      {"length and chunks",
       "HTTP/1.1 200 OK\r\nAudit-Id: 1\r\nContent-Length: 3\r\n"
       "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" +
           foreign},
  };
}

TEST_F(Attack, AHostileServersExtraBytesReachNobodyElse) {
  ASSERT_NO_FATAL_FAILURE(start_lab());
  HostileServer& server = take_over();
  ASSERT_NO_FATAL_FAILURE(start_edge());
  for (const Trick& trick : tricks()) {
    server.play([&trick](const std::string& head, const Socket& to) {
      const std::string line = request_line(head);
      if (line.find("/for-alice") != std::string::npos) {
        (void)to.send(trick.bytes);
        if (!trick.later.empty()) (void)poll(nullptr, 0, 60);
        (void)to.send(trick.later);
        return Then::keep;
      }
      if (line.find("/for-node") == std::string::npos) return Then::pass_on;
      (void)to.send(answer_text(200, R"({"for":"node"})"));
      return Then::keep;
    });
    for (int round = 0; round < 2; ++round) {
      const std::string base = "/api/v1/namespaces/ns/configmaps/";
      (void)ask_as_nobody(edge_port, {.target = base + "for-alice",
                                      .bearer = "alice-token",
                                      .user_agent = plain_agent,
                                      .limit = 2s});
      for (int i = 0; i < 2; ++i) {
        const Answer node =
            ask(edge_port, {.target = base + "for-node", .user_agent = plain_agent, .limit = 12s});
        EXPECT_TRUE(node.has(R"("for":"node")")) << trick.name << ": " << node.head << node.body;
        EXPECT_FALSE(node.has("FOREIGN")) << trick.name;
      }
    }
    EXPECT_TRUE(edge->running()) << trick.name;
    if (HasFailure()) return note(trick.name);
  }
}

}  // namespace
}  // namespace holdfast::attack
