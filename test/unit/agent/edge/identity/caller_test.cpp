// How callers are identified, on loopback and over TLS, and whose cached rows they may read.

#include "agent/edge/door/identify.h"

namespace holdfast::agent {
namespace {

http::Request request(const std::string& bearer) {
  http::Request made{.target = "/"};
  made.headers.add("User-Agent", "kubelet/v1.32.4 (linux/amd64)");
  if (!bearer.empty()) made.headers.add("Authorization", "Bearer " + bearer);
  return made;
}

EdgeOptions options() {
  EdgeOptions made;
  made.node_name = "edge-a";
  return made;
}

std::string owner(const Result<Caller>& caller) {
  if (!caller) return std::string(to_string(caller.error().code));
  const std::string kind = caller->owner.substr(0, caller->owner.find(':'));
  return kind == "token" ? kind : caller->owner;
}

// Accepts as the node: uid 0 on loopback, and callers with the node's token.
const NodeAuthentication authentication{.of_peer =
                                            [](const net::Peer& peer) {
                                              if (peer.owner && peer.owner->uid == 0)
                                                return Status();
                                              return Status(fail(Errc::denied, "not root"));
                                            },
                                        .token = "the-node"};

TEST(CallerTest, OnLoopbackTheProcessDecidesUnlessHeBringsCredentials) {
  struct Case {
    const char* what;
    std::optional<std::uint32_t> uid;
    http::Headers headers;
    const char* owner;
  };
  const Case cases[] = {
      {"root", 0, {}, "node"},
      {"another user", 1000, {}, "denied"},
      {"a caller whose socket is nobody's", {}, {}, "denied"},
      {"root with a token is whoever the token says", 0, {{"Authorization", "Bearer a"}}, "token"},
      {"another user with a token", 1000, {{"Authorization", "Bearer a"}}, "token"},
      {"a web page in root's browser", 0, {{"Origin", "http://evil.example"}}, "denied"},
      {"a sandboxed page", 0, {{"Origin", "null"}}, "denied"},
      {"a web page with a token",
       1000,
       {{"Origin", "http://a.example"}, {"Authorization", "Bearer a"}},
       "token"},
      {"another user with the node's token", 1000, {{"Authorization", "Bearer the-node"}}, "node"},
      {"somebody elsewhere with it", {}, {{"Authorization", "Bearer the-node"}}, "denied"},
      {"what only begins like it", 1000, {{"Authorization", "Bearer the-nod"}}, "token"},
      {"a pod's probe", 0, {{"User-Agent", "kube-probe/1.36"}}, "denied"},
      {"a pod's hook", 0, {{"User-Agent", "kube-lifecycle/1.36"}}, "denied"},
  };
  for (const Case& c : cases) {
    http::Request asked{.target = "/", .headers = c.headers};
    if (c.uid) asked.peer.owner = net::SocketOwner{.uid = *c.uid, .inode = 1};
    EXPECT_EQ(owner(identify(asked, options(), authentication)), c.owner) << c.what;
  }
}

TEST(CallerTest, OverTlsTheCertificateDecidesAndNeverTheUid) {
  struct Case {
    std::string common_name;
    std::vector<std::string> organizations;
    std::string bearer;
    std::string owner;
    bool by_certificate;
  };
  const Case cases[] = {
      {"system:node:edge-a", {"system:nodes"}, "", "node", true},
      {"system:node:edge-a", {"others", "system:nodes"}, "", "node", true},
      {"system:node:edge-a", {}, "", "certificate:system:node:edge-a", true},
      {"system:node:edge-b", {"system:nodes"}, "", "certificate:system:node:edge-b", true},
      {"alice", {"system:masters"}, "", "certificate:alice", true},
      {"node", {"system:nodes"}, "", "certificate:node", true},
      {"alice", {}, "a-token", "token", false},
      {"system:node:edge-a", {"system:nodes"}, "a-token", "token", false},
      {"", {}, "a-token", "token", false},
  };
  for (const Case& c : cases) {
    http::Request asked = request(c.bearer);
    asked.peer = {.address = "127.0.0.1",
                  .owner = net::SocketOwner{.uid = 0, .inode = 1},
                  .common_name = c.common_name,
                  .organizations = c.organizations};
    const auto caller = identify_over_tls(asked, options());
    ASSERT_TRUE(caller) << c.common_name;
    EXPECT_EQ(owner(caller), c.owner) << c.common_name;
    EXPECT_EQ(caller->by_certificate, c.by_certificate) << c.common_name;
    EXPECT_TRUE(caller->cached);
    EXPECT_EQ(caller->owner.find("a-token"), std::string::npos) << "keys must not contain tokens";
  }
  http::Request nobody = request("");
  nobody.peer.owner = net::SocketOwner{.uid = 0, .inode = 1};
  EXPECT_EQ(owner(identify_over_tls(nobody, options())), "denied");
}

TEST(CallerTest, ATokenIsTheSameCallerOnBothListeners) {
  const auto here = identify(request("alice"), options(), authentication);
  const auto there = identify_over_tls(request("alice"), options());
  EXPECT_EQ(here->owner, there->owner);
  EXPECT_NE(here->owner, identify(request("bob"), options(), authentication)->owner);
}

}  // namespace
}  // namespace holdfast::agent
