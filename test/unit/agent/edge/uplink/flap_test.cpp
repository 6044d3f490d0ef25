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
constexpr int scopes = 4 + secrets;  // node, pods, services, and the agent's own yurt-hub-cfg

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
                                              what.find("/pods/") == std::string::npos &&
                                              (what.starts_with("GET /api/"));
                        return of_scope && (what.find("watch=true") != std::string::npos) == watch;
                      }));
  }

  // What the cache answers.
  std::string cached(const std::string& scope) {
    const char* separator = scope.find('?') == std::string::npos ? "?" : "&";
    return fixture_.ask(scope + separator + "resourceVersion=0").body;
  }
  bool contains(const std::string& scope, const std::string& text) {
    return cached(scope).find(text) != std::string::npos;
  }
  bool shows(const std::string& scope, const std::string& name) {
    return contains(scope, "\"name\":\"" + name + "\"");
  }
  bool shows_local_version(const std::string& scope) {
    const std::string local = std::to_string(sync::objects::first_local_version);
    return contains(scope, "\"resourceVersion\":\"" + local.substr(0, 6));
  }

  // Writes of the kubelet. They return the HTTP status.
  int write_pod_status(const std::string& message) {
    return patch("/api/v1/namespaces/a/pods/p/status",
                 R"({"metadata":{"uid":"uid-p"},"status":{"message":")" + message + R"("}})");
  }
  int write_node_status(const std::string& kernel) {
    return patch("/api/v1/nodes/edge1/status",
                 R"({"status":{"nodeInfo":{"kernelVersion":")" + kernel + R"("}}})");
  }
  int delete_pod(const std::string& name) {
    return fixture_
        .ask({.method = http::Method::remove,
              .target = "/api/v1/namespaces/a/pods/" + name + "?gracePeriodSeconds=0",
              .headers = {{"User-Agent", "kubelet"}}})
        .status;
  }
  int patch(const std::string& target, const std::string& body) {
    return fixture_
        .ask({.method = http::Method::patch,
              .target = target,
              .headers = {{"User-Agent", "kubelet"},
                          {"Content-Type", "application/strategic-merge-patch+json"}},
              .body = body})
        .status;
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
    EXPECT_TRUE(contains(secret_scope(3), R"("a":")" + std::to_string(cut) + '"'))
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

// The answers to the replayed writes tell what the API server has now.
TEST_F(Flap, WritesOfTheNodeCostNoList) {
  for (int cut = 1; cut <= 3; ++cut) {
    SCOPED_TRACE(cut);
    const std::string number = std::to_string(cut);
    fixture_.cut_link();
    EXPECT_EQ(write_pod_status("run " + number), 200);
    EXPECT_EQ(write_node_status("run " + number), 200);
    EXPECT_TRUE(shows_local_version(own_pods));
    // Somebody else changes the same objects meanwhile, and another one.
    cloud().put("/api/v1/namespaces/a/pods", "p",
                R"({"spec":{"nodeName":"edge1"},"other":"o)" + number + R"("})");
    cloud().put("/api/v1/namespaces/a/pods", "n" + number, R"({"spec":{"nodeName":"edge1"}})");
    mark_ = cloud().asked.size();
    fixture_.restore_link();
    for (const std::string& scope : {own_pods, own_node}) {
      EXPECT_FALSE(shows_local_version(scope)) << scope;
      EXPECT_TRUE(contains(scope, "run " + number)) << scope;
    }
    EXPECT_TRUE(contains(own_pods, "\"o" + number + "\"")) << "what the other one wrote";
    fixture_.time.run(15s);
    EXPECT_EQ(lists(), 0);
    EXPECT_EQ(watches(), scopes);
    EXPECT_TRUE(shows(own_pods, "n" + number));
    EXPECT_TRUE(contains(own_pods, "\"o" + number + "\""));
    // The scope follows the API server again.
    cloud().put("/api/v1/namespaces/a/pods", "p",
                R"({"spec":{"nodeName":"edge1"},"other":"later"})");
    fixture_.time.run(1s);
    EXPECT_TRUE(contains(own_pods, "later"));
  }
}

// What it had before the write must not come back.
TEST_F(Flap, ADeletionByTheNodeCostsNoListAndIsNotUndone) {
  cloud().put("/api/v1/namespaces/a/pods", "ending", R"({"spec":{"nodeName":"edge1"}})");
  fixture_.time.run(1s);
  fixture_.cut_link();
  cloud().put("/api/v1/namespaces/a/pods", "ending",
              R"({"spec":{"nodeName":"edge1"},"other":"before its end"})");
  EXPECT_EQ(delete_pod("ending"), 200);
  EXPECT_FALSE(shows(own_pods, "ending"));
  mark_ = cloud().asked.size();
  fixture_.restore_link();
  EXPECT_FALSE(shows(own_pods, "ending"));
  fixture_.time.run(15s);
  EXPECT_FALSE(shows(own_pods, "ending"));
  EXPECT_EQ(cloud().object("/api/v1/namespaces/a/pods", "ending"), "");
  EXPECT_EQ(lists(), 0);
  EXPECT_EQ(watches(), scopes);
  cloud().put("/api/v1/namespaces/a/pods", "ending", R"({"spec":{"nodeName":"edge1"}})", "uid-2");
  fixture_.time.run(1s);
  EXPECT_TRUE(shows(own_pods, "ending")) << "a new pod with that name";
}

// A pod that the cloud has deleted meanwhile has no status any more.
TEST_F(Flap, AStatusOfAPodThatIsGoneCostsNoList) {
  fixture_.cut_link();
  EXPECT_EQ(write_pod_status("run"), 200);
  cloud().remove("/api/v1/namespaces/a/pods", "p");
  mark_ = cloud().asked.size();
  fixture_.restore_link();
  EXPECT_FALSE(shows(own_pods, "p"));
  fixture_.time.run(15s);
  EXPECT_EQ(lists(), 0);
  EXPECT_EQ(watches(), scopes);
}

// Writes that are accepted during the rejoin hide the API server's events for a moment.
TEST_F(Flap, AWriteDuringTheRejoinCostsAWatchAndNoList) {
  fixture_.cut_link();
  EXPECT_EQ(write_pod_status("before"), 200);
  mark_ = cloud().asked.size();
  fixture_.servers[0]->latency = 300ms;
  fixture_.servers[0]->restore();
  const auto watches_pods = [this] { return cloud().count("GET /api/v1/pods?", mark_) > 0; };
  ASSERT_TRUE(fixture_.time.run_until(1min, watches_pods));
  EXPECT_EQ(fixture_.state(), LinkState::rejoining);
  EXPECT_EQ(write_pod_status("meanwhile"), 200);
  cloud().put("/api/v1/namespaces/a/pods", "n", R"({"spec":{"nodeName":"edge1"}})");
  ASSERT_TRUE(fixture_.until(LinkState::connected));
  fixture_.time.run(15s);
  EXPECT_EQ(lists(), 0);
  EXPECT_EQ(watches(), scopes + 1) << "that of the pods again";
  EXPECT_TRUE(contains(own_pods, "meanwhile"));
  EXPECT_TRUE(shows(own_pods, "n")) << "missed at first";
  EXPECT_FALSE(shows_local_version(own_pods));
}

// The watch brings what has become of the object.
TEST_F(Flap, AnAnswerThatDoesNotTellCostsNoList) {
  const struct {
    std::string what;
    int status;  // of the API server's answer to the status; 0: none
    bool is_written;
  } rows[] = {
      {"an answer without the object", 200, false},
      {"refused for now", 403, false},
      {"rejected", 422, false},
      {"no answer, and not written", 0, false},
      {"no answer, but written", 0, true},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    fixture_.cut_link();
    EXPECT_EQ(write_pod_status(row.what), 200);
    fixture_.servers[0]->special = [&](const http::Request& request) {
      const bool is_status = request.method == http::Method::patch &&
                             request.target.find("/pods/p/status") != std::string::npos;
      if (!is_status) return std::optional<http::Response>();
      if (row.is_written) (void)cloud().answer(request);
      return std::optional<http::Response>({.status = row.status, .body = "{}"});
    };
    mark_ = cloud().asked.size();
    fixture_.restore_link();
    fixture_.time.run(1s);
    EXPECT_EQ(lists(), 0);
    EXPECT_FALSE(shows_local_version(own_pods));
    EXPECT_TRUE(shows(own_pods, "p"));
    EXPECT_EQ(contains(own_pods, row.what), row.is_written);
    fixture_.servers[0]->special = [](const http::Request&) { return std::nullopt; };
    fixture_.time.run(2min);
  }
}

TEST_F(Flap, AScopeIsListedIfTheWriteWasAcceptedByAnEarlierRun) {
  fixture_.cut_link();
  EXPECT_EQ(write_pod_status("run"), 200);
  fixture_.stop();
  fixture_.start();
  mark_ = cloud().asked.size();
  fixture_.restore_link();
  fixture_.time.run(15s);
  EXPECT_EQ(lists(), 1) << "of the pods";
  EXPECT_FALSE(shows_local_version(own_pods));
  EXPECT_TRUE(contains(own_pods, "run"));
}

// It must not be shown again for a moment if the API server has deleted it.
TEST_F(Flap, AScopeIsListedIfADeletionHasNoAnswer) {
  fixture_.cut_link();
  EXPECT_EQ(delete_pod("p"), 200);
  fixture_.servers[0]->special = [&](const http::Request& request) {
    if (request.method != http::Method::remove) return std::optional<http::Response>();
    (void)cloud().answer(request);
    return std::optional<http::Response>({.status = 0});
  };
  mark_ = cloud().asked.size();
  fixture_.restore_link();
  EXPECT_FALSE(shows(own_pods, "p"));
  fixture_.time.run(15s);
  EXPECT_FALSE(shows(own_pods, "p"));
  EXPECT_EQ(lists(), 1) << "of the pods";
}

}  // namespace
}  // namespace holdfast::agent::uplink::flap
