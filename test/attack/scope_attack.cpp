// One list that always fails must not keep the agent from reconnecting and from syncing its other
// lists.

#include <cstdio>
#include <string_view>

#include "test/attack/attack_fixture.h"

namespace holdfast::attack {
namespace {

// A resource that a node may list completely.
const std::string classes = "/apis/node.k8s.io/v1/runtimeclasses";
constexpr std::string_view list_head =
    R"({"kind":"RuntimeClassList","apiVersion":"node.k8s.io/v1",)"
    R"("metadata":{"resourceVersion":"5"},"items":[)";

struct Refusal {
  const char* name;
  int status;
  std::size_t spaces;  // padding of a list that is too large; 0: only the status
  bool chunked;
  const char* gzip = "";  // a fault of the compressed list: "bomb", "corrupt", "truncated"
};

const Refusal refusals[] = {
    {"500", 500, 0, false},
    {"503", 503, 0, false},
    {"403", 403, 0, false},
    {"404", 404, 0, false},
    {"429", 429, 0, false},
    {"a list of 70 MiB", 200, 70UL << 20, false},
    {"a list of 70 MiB in chunks", 200, 70UL << 20, true},
    {"a gzip bomb of 512 MiB", 200, 512UL << 20, false, "bomb"},
    {"a corrupt gzip list", 200, 1UL << 20, false, "corrupt"},
    {"half a gzip list", 200, 1UL << 20, false, "truncated"},
};

void send_packed_list(const Socket& to, const Refusal& refusal) {
  std::string list = packed_list(list_head, refusal.spaces);
  const std::string_view wrong = refusal.gzip;
  if (wrong == "corrupt") list[list.size() / 2] = static_cast<char>(~list[list.size() / 2]);
  if (wrong == "truncated") list.resize(list.size() / 2);
  (void)to.send(answer_text(200, list, "Audit-Id: 1\r\nContent-Encoding: gzip\r\n"), 4s);
}

void send_large_list(const Socket& to, const Refusal& refusal) {
  const std::string open(list_head);
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
      if (request_line(head).find("/runtimeclasses") == std::string::npos) return Then::pass_on;
      const bool takes_gzip = head.find("gzip") != std::string::npos;
      if (*refusal.gzip != '\0' && takes_gzip) {
        send_packed_list(to, refusal);
      } else if (*refusal.gzip != '\0') {
        return Then::pass_on;
      } else if (refusal.spaces > 0) {
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
    EXPECT_TRUE(wait_for_link("connected", 10s))
        << refusal.name << ": the agent does not reconnect";
    const auto took = std::chrono::duration_cast<Duration>(Clock::now() - began).count();
    note(refusal.name + (" " + std::to_string(took) + " ms"));
  }

  // A change in the cloud still reaches the node through another list.
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
  ASSERT_NO_FATAL_FAILURE(warm(classes));
  ASSERT_NO_FATAL_FAILURE(warm("/api/v1/namespaces/ns/services"));
  int number = 0;
  for (const Refusal& refusal : refusals) {
    ASSERT_NO_FATAL_FAILURE(lose_and_regain(refusal));
    ASSERT_NO_FATAL_FAILURE(expect_others_go_on("s" + std::to_string(++number)));
    EXPECT_TRUE(edge->running()) << refusal.name;
    note_peak("holdfast-edge", edge->peak());
    if (!sanitized()) {
      EXPECT_LE(edge->peak(), edge_budget) << refusal.name;
    }
    if (HasFailure()) return;
  }
  // Once the list succeeds, it is cached.
  hostile->play({});
  ASSERT_EQ(as_admin("POST", classes, R"({"metadata":{"name":"new"},"handler":"h"})").status, 201);
  EXPECT_TRUE(
      eventually(40s, [this] { return as_node(classes + "?resourceVersion=0").has("\"new\""); }));
}

}  // namespace
}  // namespace holdfast::attack
