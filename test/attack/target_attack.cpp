// Percent-encoded characters in a target must not become a part of the agent's own requests.

#include <sstream>

#include "test/attack/attack_fixture.h"

namespace holdfast::attack {
namespace {

const std::string smuggled = "%20HTTP%2F1.1%0D%0AHost:%20x%0D%0A%0D%0AGET%20%2Fsmuggled";

// Contents of path segments and selectors, encoded and plain.
const std::string payloads[] = {smuggled,
                                "a" + smuggled + "%20HTTP%2F1.1%0D%0AX:",
                                "a%0D%0AX-Smuggled:%201",
                                "a%0AX-Smuggled:%201",
                                "a%0DX-Smuggled:%201",
                                "a%20b",
                                "a%00b",
                                "a%7Fb",
                                "a%09b",
                                "a%23b",
                                "a%3Fwatch=1",
                                "a%2Fb",
                                "..%2F..",
                                "a%C3%A4",
                                "a%25%30%44",
                                "a\x80"
                                "b"};

std::vector<std::string> targets_with(const std::string& one) {
  return {
      "/apis/" + one + "/v1/things",
      "/apis/x.example/" + one + "/things",
      "/apis/x.example/v1/" + one,
      "/api/" + one + "/pods",
      "/api/v1/" + one,
      "/api/v1/namespaces/" + one + "/configmaps",
      "/api/v1/namespaces/ns/" + one,
      "/api/v1/namespaces/ns/configmaps/" + one,
      "/api/v1/namespaces/ns/pods/p/" + one,
      "/api/v1/nodes/" + one,
      "/api/v1/namespaces/ns/configmaps?labelSelector=" + one,
      "/api/v1/namespaces/ns/configmaps?fieldSelector=metadata.name%3D" + one,
      "/api/v1/namespaces/ns/configmaps?continue=" + one,
      "/" + one,
      "/version/" + one,
  };
}

bool is_request_line(const std::string& line) {
  std::istringstream words(line);
  std::string method;
  std::string target;
  std::string version;
  std::getline(words, method, ' ');
  std::getline(words, target, ' ');
  std::getline(words, version);
  for (const char c : target) {
    if (c <= ' ' || c > '~' || c == '#') return false;
  }
  return version == "HTTP/1.1" && target.starts_with('/') && !method.empty();
}

class Targets : public Attack {
 protected:
  void SetUp() override {
    Attack::SetUp();
    if (IsSkipped()) return;
    ASSERT_NO_FATAL_FAILURE(start_lab());
    // Answers unknown resources with an empty list, so that the agent continues with the request.
    take_over().play([](const std::string& head, const Socket& to) {
      const std::string line = request_line(head);
      const bool known = line.find("/leases") != std::string::npos ||
                         line.ends_with("/api/v1/nodes/edge-a") || line.ends_with("/readyz");
      if (known) return Then::pass_on;
      (void)to.send(answer_text(200,
                                R"({"kind":"ThingList","apiVersion":"x/v1","metadata":)"
                                R"({"resourceVersion":"5"},"items":[]})",
                                "Connection: close\r\n"));
      return Then::close;
    });
    ASSERT_NO_FATAL_FAILURE(start_edge());
  }

  // Checks all bytes that the agent sent upstream: complete request lines, and no smuggled ones.
  void expect_clean(const std::string& by) {
    for (const std::string& bytes : hostile->received()) {
      const std::string first = bytes.substr(0, bytes.find("\r\n"));
      EXPECT_TRUE(bytes.empty() || is_request_line(first)) << by << " became " << first;
      std::istringstream lines(bytes);
      for (std::string line; std::getline(lines, line);) {
        EXPECT_FALSE(line.starts_with("GET /smuggled")) << by << " sent a second request";
        EXPECT_FALSE(line.starts_with("X-Smuggled")) << by << " sent a header";
      }
      EXPECT_EQ(bytes.find('\0'), std::string::npos) << by;
    }
  }
};

TEST_F(Targets, WhatIsEncodedStaysEncoded) {
  for (const std::string& payload : payloads) {
    for (const std::string& target : targets_with(payload)) {
      const std::string more = target.find('?') == std::string::npos ? "?" : "&";
      (void)ask(edge_port, {.target = target + more + "resourceVersion=0", .limit = 3s});
      (void)ask(edge_port, {.target = target, .user_agent = "kubectl/v1.32", .limit = 3s});
    }
    expect_clean(payload);
    EXPECT_TRUE(edge->running()) << payload;
    if (HasFailure()) return note(payload);
  }
}

TEST_F(Targets, WhatIsEncodedInAnUpgradeStaysEncoded) {
  for (const std::string& payload : payloads) {
    for (const std::string action : {"imagepull", "upgrade"}) {
      for (const std::string& target :
           {"/openyurt.io/v1/namespaces/" + payload + "/pods/p/" + action,
            "/openyurt.io/v1/namespaces/ns/pods/" + payload + "/" + action}) {
        (void)ask(admin_port, {.target = target, .method = "POST", .limit = 3s});
        (void)ask(edge_port, {.target = target, .method = "POST", .limit = 3s});
      }
    }
    (void)ask(edge_port, {.target = "/api/v1/namespaces/ns/serviceaccounts/" + payload + "/token",
                          .method = "POST",
                          .body = R"({"spec":{}})",
                          .limit = 3s});
    expect_clean(payload);
    EXPECT_TRUE(edge->running()) << payload;
    if (HasFailure()) return note(payload);
  }
}

// Raw bytes that are invalid in a target.
TEST_F(Targets, RawControlCharactersAreRefused) {
  const std::string raw[] = {"a\tb",
                             "a\x01"
                             "b",
                             "a\x7f"
                             "b",
                             std::string("a\0b", 3),
                             "a b",
                             "a\rb"};
  for (const std::string& one : raw) {
    const Answer answer =
        ask(edge_port, {.target = "/api/v1/namespaces/" + one + "/configmaps", .limit = 3s});
    EXPECT_GE(answer.status, 400) << one;
    EXPECT_LT(answer.status, 500) << one;
  }
  expect_clean("raw");
}

}  // namespace
}  // namespace holdfast::attack
