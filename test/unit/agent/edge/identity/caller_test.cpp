// Who asks, on loopback and over TLS, and whose rows he is given.

#include "agent/edge/caller.h"

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

TEST(CallerTest, OnLoopbackTheUidDecides) {
  http::Request by_root = request("");
  by_root.peer.uid = 0;
  EXPECT_EQ(owner(identify(by_root, options())), "node");
  http::Request by_other = request("");
  by_other.peer.uid = 1000;
  EXPECT_EQ(owner(identify(by_other, options())), "denied");
  EXPECT_EQ(owner(identify(request(""), options())), "denied");
  http::Request with_token = request("alice");
  with_token.peer.uid = 0;
  EXPECT_EQ(owner(identify(with_token, options())), "token") << "whoever it is";
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
                  .uid = 0,
                  .common_name = c.common_name,
                  .organizations = c.organizations};
    const auto caller = identify_over_tls(asked, options());
    ASSERT_TRUE(caller) << c.common_name;
    EXPECT_EQ(owner(caller), c.owner) << c.common_name;
    EXPECT_EQ(caller->by_certificate, c.by_certificate) << c.common_name;
    EXPECT_TRUE(caller->cached);
    EXPECT_EQ(caller->owner.find("a-token"), std::string::npos) << "tokens are in no key";
  }
  http::Request nobody = request("");
  nobody.peer.uid = 0;
  EXPECT_EQ(owner(identify_over_tls(nobody, options())), "denied");
}

TEST(CallerTest, ATokenIsTheSameCallerOnBothListeners) {
  const auto here = identify(request("alice"), options());
  const auto there = identify_over_tls(request("alice"), options());
  EXPECT_EQ(here->owner, there->owner);
  EXPECT_NE(here->owner, identify(request("bob"), options())->owner);
}

}  // namespace
}  // namespace holdfast::agent
