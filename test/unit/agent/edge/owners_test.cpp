// Which callers may have rows in the cache: those whose bearer token the API server has accepted
// for a request that anonymous callers may not make.

#include "agent/edge/forward/owners.h"

#include <gtest/gtest.h>

#include "agent/edge/door/identify.h"

namespace holdfast::agent {
namespace {

constexpr const char* list = "/api/v1/pods";

TEST(Owners, AreThoseWhomTheApiServerHasAccepted) {
  struct Case {
    const char* what;
    std::string authorization;
    const char* target;
    int status;
    bool accepted;
  };
  const Case cases[] = {
      {"a token", "Bearer abc", list, 200, true},
      {"a token, created", "Bearer abc", "/apis/apps/v1/x", 201, true},
      {"refused", "Bearer abc", list, 401, false},
      {"not allowed", "Bearer abc", list, 403, false},
      {"an error", "Bearer abc", list, 500, false},
      {"open to everybody", "Bearer abc", "/version", 200, false},
      {"open to everybody, too", "Bearer abc", "/healthz", 200, false},
      {"another scheme is anonymous", "Basic abc", list, 200, false},
      {"no token is anonymous", "Bearer ", list, 200, false},
      {"another spelling of a token", "bearer abc", list, 200, false},
      {"a token and more", "Bearer abc x1", list, 200, false},
      {"two blanks", "Bearer  abc", list, 200, false},
      {"nothing", "", list, 200, false},
  };
  for (const Case& c : cases) {
    Owners owners;
    owners.record(c.authorization, c.target, c.status);
    EXPECT_EQ(owners.accepted(owner_of(c.authorization)), c.accepted) << c.what;
  }
}

TEST(Owners, ARefusalForgetsAnAcceptanceAndTheOtherWayRound) {
  Owners owners;
  const std::string owner = owner_of("Bearer abc");
  owners.record("Bearer abc", list, 200);
  owners.record("Bearer abc", list, 403);
  EXPECT_TRUE(owners.accepted(owner)) << "a 403 does not revoke the acceptance";
  owners.record("Bearer abc", list, 401);
  EXPECT_FALSE(owners.accepted(owner));
  EXPECT_TRUE(owners.rejected(owner));
  owners.record("Bearer abc", list, 200);
  EXPECT_TRUE(owners.accepted(owner));
  EXPECT_FALSE(owners.rejected(owner));
}

TEST(Owners, TheirNumberIsLimited) {
  Owners owners({.accepted = 2, .rejected = 2});
  for (const char* token : {"Bearer a", "Bearer b", "Bearer a", "Bearer c"}) {
    owners.record(token, list, 200);
  }
  EXPECT_TRUE(owners.accepted(owner_of("Bearer a")));
  EXPECT_FALSE(owners.accepted(owner_of("Bearer b"))) << "the least recently used one";
  EXPECT_TRUE(owners.accepted(owner_of("Bearer c")));
}

TEST(Owners, HaveTheNamesThatCallersHave) {
  http::Request request;
  request.headers.add("Authorization", "Bearer abc");
  EXPECT_EQ(identify(request, EdgeOptions{}, NodeAuthentication{}).value().owner,
            owner_of("Bearer abc"));
}

}  // namespace
}  // namespace holdfast::agent
