// A cut of the link costs one request for each scope: its watch continues at the version that the
// scope has seen, and brings what happened meanwhile.

#include <gtest/gtest.h>

#include <algorithm>

#include "test/unit/agent/edge/uplink/uplink_fixture.h"

namespace holdfast::agent::uplink::flap {
namespace {

using sync::autonomy::LinkState;

const std::string own_pods = "/api/v1/pods?fieldSelector=spec.nodeName%3Dedge1";
const std::string own_node = "/api/v1/nodes?fieldSelector=metadata.name%3Dedge1";
constexpr int secrets = 12;
constexpr int scopes = 4 + secrets;  // pods (the kubelet's and the agent's own), node, services

std::string secret_scope(int number) {
  return "/api/v1/namespaces/a/secrets?fieldSelector=metadata.name%3Ds" + std::to_string(number);
}

// A node whose kubelet has asked for what a kubelet asks for.
class Flap : public ::testing::Test {
 protected:
  Flap() {
    cloud().put("/api/v1/nodes", "edge1");
    cloud().put("/api/v1/namespaces/a/pods", "p", R"({"spec":{"nodeName":"edge1"}})");
    for (int i = 0; i < secrets; ++i) {
      cloud().put("/api/v1/namespaces/a/secrets", "s" + std::to_string(i));
    }
    EXPECT_TRUE(fixture_.until(LinkState::connected));
    for (const std::string& scope : all()) EXPECT_EQ(fixture_.ask(scope).status, 200);
    fixture_.time.run(90s);
    EXPECT_EQ(fixture_.state(), LinkState::connected);
    mark_ = cloud().asked.size();
  }

  static std::vector<std::string> all() {
    std::vector<std::string> all{own_pods, own_node, "/api/v1/services"};
    for (int i = 0; i < secrets; ++i) all.push_back(secret_scope(i));
    return all;
  }

  FakeCloud& cloud() { return fixture_.cloud; }

  // Requests for scopes since the mark.
  [[nodiscard]] int watches() { return requests(true); }
  [[nodiscard]] int lists() { return requests(false); }

  [[nodiscard]] int requests(bool watch) {
    return static_cast<int>(
        std::count_if(cloud().asked.begin() + static_cast<std::ptrdiff_t>(mark_),
                      cloud().asked.end(), [watch](const ReceivedRequest& request) {
                        const std::string& what = request.what;
                        const bool of_scope = what.find("/leases/") == std::string::npos &&
                                              !what.starts_with("GET /api/v1/nodes/") &&
                                              (what.starts_with("GET /api/"));
                        return of_scope && (what.find("watch=true") != std::string::npos) == watch;
                      }));
  }

  bool shows(const std::string& scope, const std::string& name) {
    const http::Response answer =
        fixture_.ask(scope + (scope.find('?') == std::string::npos ? "?resourceVersion=0"
                                                                   : "&resourceVersion=0"));
    return answer.body.find("\"name\":\"" + name + "\"") != std::string::npos;
  }

  UplinkFixture fixture_;
  std::size_t mark_ = 0;
};

TEST_F(Flap, ThreeCutsCostThreeWatchesPerScopeAndNoList) {
  for (int cut = 1; cut <= 3; ++cut) {
    SCOPED_TRACE(cut);
    fixture_.cut_link();
    fixture_.time.run(5s);
    const std::string name = "n" + std::to_string(cut);
    cloud().put("/api/v1/namespaces/a/pods", name, R"({"spec":{"nodeName":"edge1"}})");
    cloud().remove("/api/v1/namespaces/a/pods", cut == 1 ? "p" : "n" + std::to_string(cut - 1));
    cloud().put("/api/v1/namespaces/a/secrets", "s3",
                R"({"data":{"a":")" + std::to_string(cut) + R"("}})");
    mark_ = cloud().asked.size();
    fixture_.restore_link();
    fixture_.time.run(15s);
    EXPECT_EQ(lists(), 0);
    EXPECT_EQ(watches(), scopes);
    EXPECT_TRUE(shows(own_pods, name)) << "created meanwhile";
    EXPECT_FALSE(shows(own_pods, "p")) << "deleted meanwhile";
    EXPECT_NE(fixture_.ask(secret_scope(3) + "&resourceVersion=0")
                  .body.find(R"("a":")" + std::to_string(cut) + '"'),
              std::string::npos)
        << "changed meanwhile";
  }
}

TEST_F(Flap, AnAgentThatIsRestartedListsNothing) {
  // Other objects change; a bookmark tells the scopes so, which is not written to disk at once.
  for (int i = 0; i < 20; ++i) cloud().put("/api/v1/namespaces/b/pods", "other");
  fixture_.stop();
  cloud().put("/api/v1/namespaces/a/pods", "later", R"({"spec":{"nodeName":"edge1"}})");
  mark_ = cloud().asked.size();
  fixture_.start();
  EXPECT_TRUE(fixture_.until(LinkState::connected));
  fixture_.time.run(15s);
  EXPECT_EQ(lists(), 0);
  EXPECT_EQ(watches(), scopes);
  EXPECT_TRUE(shows(own_pods, "later"));
  EXPECT_TRUE(shows(own_pods, "p"));
}

// The broken connection says nothing about the list.
TEST_F(Flap, AListThatTheCutBreaksOffIsNoReasonToListAgain) {
  fixture_.servers[0]->special = [](const http::Request& request) {
    const bool is_list = request.target.starts_with("/api/v1/namespaces/a/secrets?") &&
                         request.target.find("watch=true") == std::string::npos;
    return is_list ? std::optional<http::Response>({.status = 0}) : std::nullopt;
  };
  // It begins with the newest state, so its scope is listed first, and the list is not answered.
  EXPECT_EQ(fixture_.ask(secret_scope(0) + "&watch=true&timeoutSeconds=1").status, 200);
  EXPECT_EQ(lists(), 1);
  fixture_.cut_link();
  fixture_.servers[0]->special = [](const http::Request&) { return std::nullopt; };
  EXPECT_NE(fixture_.admin("/v1/scopes").find(R"("state":"failed")"), std::string::npos);
  mark_ = cloud().asked.size();
  fixture_.restore_link();
  fixture_.time.run(15s);
  EXPECT_EQ(lists(), 0);
  EXPECT_EQ(watches(), scopes);
  EXPECT_EQ(fixture_.admin("/v1/scopes").find(R"("state":"failed")"), std::string::npos);
}

// What the API server answers to a watch from a version that is compacted or unknown to it.
TEST_F(Flap, AVersionThatIsGoneIsListedOnce) {
  const struct {
    std::string_view what;
    int status;
    std::string body;
  } rows[] = {
      {"compacted", 410,
       R"({"kind":"Status","status":"Failure","reason":"Expired","code":410,)"
       R"("message":"too old resource version"})"},
      {"too large", 504,
       R"({"kind":"Status","status":"Failure","reason":"Timeout","code":504,)"
       R"("message":"Too large resource version: 100, current: 90",)"
       R"("details":{"causes":[{"reason":"ResourceVersionTooLarge","message":"m"}]}})"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    fixture_.cut_link();
    cloud().put("/api/v1/namespaces/a/pods", "n", R"({"spec":{"nodeName":"edge1"}})");
    mark_ = cloud().asked.size();
    int refused = 0;
    fixture_.servers[0]->special = [&](const http::Request& request) {
      const bool of_pods = request.target.starts_with("/api/v1/pods?") &&
                           request.target.find("watch=true") != std::string::npos;
      if (!of_pods || ++refused > 1) return std::optional<http::Response>();
      return std::optional<http::Response>({.status = row.status,
                                            .headers = {{"Content-Type", "application/json"}},
                                            .body = row.body});
    };
    fixture_.restore_link();
    fixture_.time.run(15s);
    EXPECT_EQ(lists(), 1);
    EXPECT_EQ(watches(), scopes + 1);
    EXPECT_TRUE(shows(own_pods, "n"));
  }
}

// Then nothing tells that the rest of the data is the same.
TEST_F(Flap, AnotherNodeOrAnOlderOneMakesAllScopesBeListed) {
  const std::string node = "/api/v1/nodes/edge1";
  const std::string older =
      R"({"kind":"Node","apiVersion":"v1","metadata":{"name":"edge1","uid":"uid-2",)"
      R"("resourceVersion":"7"}})";
  for (const bool is_older : {false, true}) {
    SCOPED_TRACE(is_older);
    fixture_.cut_link();
    if (!is_older) cloud().put("/api/v1/nodes", "edge1", "{}", "uid-2");
    fixture_.servers[0]->special = [&](const http::Request& request) {
      if (!is_older || request.target != node) return std::optional<http::Response>();
      return std::optional<http::Response>(
          {.status = 200, .headers = {{"Content-Type", "application/json"}}, .body = older});
    };
    mark_ = cloud().asked.size();
    fixture_.restore_link();
    fixture_.servers[0]->special = [](const http::Request&) { return std::nullopt; };
    fixture_.time.run(15s);
    EXPECT_EQ(lists(), scopes);
    EXPECT_EQ(watches(), scopes);
  }
}

// Nothing tells whether the API server's data is as new as the scopes.
TEST_F(Flap, WithoutALeaseEachCutCostsAList) {
  fixture_.cut_link();
  fixture_.servers[0]->special = [&](const http::Request& request) {
    const bool of_lease = request.path().find("/leases") != std::string_view::npos;
    if (!of_lease) return std::optional<http::Response>();
    return std::optional<http::Response>({.status = 403});
  };
  mark_ = cloud().asked.size();
  fixture_.restore_link();
  fixture_.time.run(15s);
  EXPECT_EQ(lists(), scopes);
}

// A write that was accepted here has a local version, which only a list ends.
TEST_F(Flap, OnlyScopesWithWritesOfTheirOwnAreListed) {
  fixture_.cut_link();
  EXPECT_EQ(fixture_
                .ask({.method = http::Method::patch,
                      .target = "/api/v1/namespaces/a/pods/p/status",
                      .headers = {{"User-Agent", "kubelet"},
                                  {"Content-Type", "application/strategic-merge-patch+json"}},
                      .body = R"({"metadata":{"uid":"uid-p"},"status":{"phase":"Running"}})"})
                .status,
            200);
  mark_ = cloud().asked.size();
  fixture_.restore_link();
  fixture_.time.run(15s);
  EXPECT_EQ(lists(), 2) << "of the pods, by the kubelet's scope and the agent's own";
  EXPECT_EQ(watches(), scopes);
}

}  // namespace
}  // namespace holdfast::agent::uplink::flap
