// Requests of other callers must not use up the cache space that the node's own answers need.

#include "test/attack/attack_fixture.h"

namespace holdfast::attack {
namespace {

constexpr int many = 1010;

// A TokenRequest for pod p: a node gets tokens for its own pods only.
std::string token_request(const std::string& pod_uid) {
  return R"({"kind":"TokenRequest","apiVersion":"authentication.k8s.io/v1",)"
         R"("spec":{"expirationSeconds":3600,"boundObjectRef":{"kind":"Pod","apiVersion":"v1",)"
         R"("name":"p","uid":")" +
         pod_uid + R"("}}})";
}

// Sends the requests one after another and waits for each answer. Reconnects when needed.
std::string ask_many(std::uint16_t port, const std::vector<std::string>& requests) {
  Socket socket;
  for (const std::string& bytes : requests) {
    if (!socket.open()) socket = connect_to(port);
    if (!parse_answer(converse(socket, bytes, 5s)).whole) socket.close();
  }
  return "done";
}

class Caches : public Attack {
 protected:
  [[nodiscard]] std::string pod_uid() const {
    constexpr std::string_view before = "\"uid\":\"";
    const std::string pod = as_admin("GET", "/api/v1/namespaces/ns/pods/p").body;
    const std::size_t at = pod.find(before);
    if (at == std::string::npos) return {};
    const std::size_t begin = at + before.size();
    return pod.substr(begin, pod.find('"', begin) - begin);
  }
  void expect_token_is_kept() {
    const Ask question{.target = token_path, .method = "POST", .body = token_request(pod_uid())};
    const Answer fresh = ask(edge_port, question);
    ASSERT_EQ(fresh.status, 201) << fresh.body;
    hostile->cut();
    ASSERT_TRUE(wait_for_link("offline"));
    const Answer kept = ask(edge_port, question);
    EXPECT_EQ(kept.status, 201) << "offline: " << kept.body;
    EXPECT_EQ(kept.body, fresh.body);
    EXPECT_EQ(edge_log().find("not stored"), std::string::npos);
  }
};

TEST_F(Caches, InventedCredentialsDoNotFillTheAnswers) {
  ASSERT_NO_FATAL_FAILURE(start_lab());
  // Behaves like an API server with anonymous access: everyone may read the API discovery
  // documents.
  take_over().play([](const std::string& head, const Socket& to) {
    const std::string line = request_line(head);
    if (line.find("/apis?") == std::string::npos && line.find("/version") == std::string::npos) {
      return Then::pass_on;
    }
    (void)to.send(answer_text(200, R"({"kind":"APIGroupList","apiVersion":"v1","groups":[]})"));
    return Then::keep;
  });
  ASSERT_NO_FATAL_FAILURE(start_edge());
  const std::uint16_t port = edge_port;
  std::vector<std::string> requests;
  for (int i = 0; i < many; ++i) {
    const std::string number = std::to_string(i);
    const std::string scheme = i % 2 == 0 ? "Basic " : "Bearer ";
    requests.push_back(text_of(
        {.target = "/apis?n=" + number, .headers = {"Authorization: " + scheme + "bm86" + number}},
        port));
  }
  ASSERT_EQ(run_as_nobody([&] { return ask_many(port, requests); }, 60s), "done");
  expect_token_is_kept();
}

TEST_F(Caches, InventedTokenRequestsDoNotFillTheAnswers) {
  ASSERT_NO_FATAL_FAILURE(start_lab());
  take_over().play([](const std::string& head, const Socket& to) {
    if (head.find("Bearer invented") == std::string::npos) return Then::pass_on;
    (void)to.send(answer_text(201, R"({"kind":"TokenRequest","status":{"token":"x",)"
                                   R"("expirationTimestamp":"2099-01-01T00:00:00Z"}})"));
    return Then::keep;
  });
  ASSERT_NO_FATAL_FAILURE(start_edge());
  const std::uint16_t port = edge_port;
  const std::string body = token_request(pod_uid());
  std::vector<std::string> requests;
  for (int i = 0; i < many; ++i) {
    requests.push_back(text_of({.target = token_path,
                                .method = "POST",
                                .body = body,
                                .bearer = "invented-" + std::to_string(i)},
                               port));
  }
  ASSERT_EQ(run_as_nobody([&] { return ask_many(port, requests); }, 60s), "done");
  expect_token_is_kept();
}

TEST_F(Caches, OneTokenDoesNotTakeAllScopes) {
  ASSERT_NO_FATAL_FAILURE(start_lab());
  take_over();
  ASSERT_NO_FATAL_FAILURE(start_edge());
  const std::uint16_t port = edge_port;
  std::vector<std::string> requests;
  for (int i = 0; i < 600; ++i) {
    requests.push_back(text_of(
        {.target = "/api/v1/namespaces/ns/configmaps?labelSelector=a%3D" + std::to_string(i),
         .bearer = "bob-token"},
        port));
  }
  ASSERT_EQ(run_as_nobody([&] { return ask_many(port, requests); }, 60s), "done");
  ASSERT_NO_FATAL_FAILURE(warm(map_list));
  ASSERT_NO_FATAL_FAILURE(warm(treasure_list));
  hostile->cut();
  ASSERT_TRUE(wait_for_link("offline"));
  const std::string offline = map_list + "&resourceVersion=0";
  EXPECT_EQ(as_node(offline).status, 200) << "the node's own list is not cached";
  EXPECT_EQ(as_node(treasure_list + "&resourceVersion=0").status, 200);
}

// What a caller may see is not what the user sees whom it acts as; only the API server knows both.
TEST_F(Caches, ActingAsAnotherUserIsNotAnsweredFromTheCallersCache) {
  ASSERT_NO_FATAL_FAILURE(start_lab());
  take_over();
  ASSERT_NO_FATAL_FAILURE(start_edge({"--cache-agents=*"}));
  const auto read = [this](const std::string& target, const std::string& header) {
    Ask question{.target = target, .bearer = "bob-token"};
    if (!header.empty()) question.headers.push_back(header);
    return ask_as_nobody(edge_port, question).body;
  };
  const std::string offline = secrets_path + "?resourceVersion=0";
  ASSERT_NE(read(secrets_path, "").find(treasure), std::string::npos);
  for (const bool connected : {true, false}) {
    if (!connected) {
      hostile->cut();
      ASSERT_TRUE(wait_for_link("offline"));
      ASSERT_NE(read(offline, "").find(treasure), std::string::npos) << "bob reads his own cache";
    }
    for (const char* header : {"Impersonate-User: alice", "impersonate-user: alice",
                               "X-Remote-User: alice", "Impersonate-Uid: 1"}) {
      for (const std::string& target :
           {offline, secrets_path + "/treasure", secrets_path + "?watch=true&timeoutSeconds=1"}) {
        // The lab's API server ignores X-Remote-*, as every API server does without a front proxy.
        if (connected && std::string(header).starts_with("X-")) continue;
        EXPECT_EQ(read(target, header).find(treasure), std::string::npos)
            << header << " " << target << (connected ? "" : " offline");
      }
    }
  }
}

}  // namespace
}  // namespace holdfast::attack
