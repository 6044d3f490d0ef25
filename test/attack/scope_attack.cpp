// One list that cannot be had must not keep the link and all other lists from coming back.

#include <cstdio>

#include "test/attack/site.h"

namespace holdfast::attack {
namespace {

struct Refusal {
  const char* name;
  int status;
  std::size_t spaces;  // of a list that is too large; 0: the status alone
  bool chunked;
};

const Refusal refusals[] = {
    {"500", 500, 0, false},
    {"503", 503, 0, false},
    {"403", 403, 0, false},
    {"404", 404, 0, false},
    {"429", 429, 0, false},
    {"a list of 70 MiB", 200, 70UL << 20, false},
    {"a list of 70 MiB in chunks", 200, 70UL << 20, true},
};

void send_large_list(const Socket& to, const Refusal& refusal) {
  const std::string open =
      R"({"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"5"},"items":[)";
  std::string head = "HTTP/1.1 200 OK\r\nAudit-Id: 1\r\nContent-Type: application/json\r\n";
  const std::size_t length = open.size() + refusal.spaces + 2;
  head += refusal.chunked ? "Transfer-Encoding: chunked\r\n\r\n"
                          : "Content-Length: " + std::to_string(length) + "\r\n\r\n";
  const auto piece = [&refusal](const std::string& bytes) {
    char size[32];
    (void)std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
    return refusal.chunked ? size + bytes + "\r\n" : bytes;
  };
  if (to.send(head + piece(open)) == 0) return;
  const std::string spaces = piece(std::string(1UL << 20, ' '));
  for (std::size_t sent = 0; sent < refusal.spaces; sent += 1UL << 20) {
    if (to.send(spaces, 2s) < spaces.size()) return;
  }
  (void)to.send(piece("]}") + (refusal.chunked ? "0\r\n\r\n" : ""));
}

class OneBadList : public Attack {
 protected:
  void lose_and_regain(const Refusal& refusal) {
    hostile->cut();
    ASSERT_TRUE(wait_for_link("offline"));
    hostile->play([refusal](const std::string& head, const Socket& to) {
      if (request_line(head).find("/configmaps") == std::string::npos) return Then::pass_on;
      if (refusal.spaces > 0) {
        send_large_list(to, refusal);
      } else {
        (void)to.send(
            answer_text(refusal.status, R"({"kind":"Status","apiVersion":"v1","status":"Failure",)"
                                        R"("message":"no","reason":"x","code":)" +
                                            std::to_string(refusal.status) + "}"));
      }
      return Then::close;
    });
    hostile->mend();
    const auto began = Clock::now();
    EXPECT_TRUE(wait_for_link("connected", 10s)) << refusal.name << ": the link stays away";
    const auto took = std::chrono::duration_cast<Duration>(Clock::now() - began).count();
    note(refusal.name + (" " + std::to_string(took) + " ms"));
  }

  // What changes in the cloud reaches the node by another list.
  void expect_others_go_on(const std::string& name) {
    const Answer made =
        as_admin("POST", "/api/v1/namespaces/ns/services",
                 R"({"metadata":{"name":")" + name + R"("},"spec":{"ports":[{"port":80}]}})");
    ASSERT_EQ(made.status, 201) << made.body;
    EXPECT_TRUE(eventually(5s, [this, &name] {
      return as_node("/api/v1/namespaces/ns/services?resourceVersion=0")
          .has("\"name\":\"" + name + "\"");
    })) << name;
  }
};

TEST_F(OneBadList, TheLinkComesBackWithoutIt) {
  ASSERT_NO_FATAL_FAILURE(start_lab());
  take_over();
  ASSERT_NO_FATAL_FAILURE(start_edge());
  ASSERT_NO_FATAL_FAILURE(warm("/api/v1/namespaces/ns/configmaps"));
  ASSERT_NO_FATAL_FAILURE(warm("/api/v1/namespaces/ns/services"));
  int number = 0;
  for (const Refusal& refusal : refusals) {
    ASSERT_NO_FATAL_FAILURE(lose_and_regain(refusal));
    ASSERT_NO_FATAL_FAILURE(expect_others_go_on("s" + std::to_string(++number)));
    EXPECT_TRUE(edge->running()) << refusal.name;
    if (HasFailure()) return;
  }
  // Once it can be had, it is had.
  hostile->play({});
  ASSERT_EQ(
      as_admin("POST", "/api/v1/namespaces/ns/configmaps", R"({"metadata":{"name":"new"}})").status,
      201);
  EXPECT_TRUE(eventually(40s, [this] {
    return as_node("/api/v1/namespaces/ns/configmaps?resourceVersion=0").has("\"new\"");
  }));
}

}  // namespace
}  // namespace holdfast::attack
