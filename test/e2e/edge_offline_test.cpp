// What local clients get from the agent while the cloud is unreachable, and when it returns.

#include "test/e2e/edge_bench.h"

namespace holdfast::test {
namespace {

using http::Method;

constexpr std::uint64_t local = std::uint64_t{1} << 62U;

Ask patch_pod(const std::string& name, const std::string& text) {
  return {.method = Method::patch, .target = pod_path(name) + "/status", .body = phase(text)};
}

// A node with two cached pods; the server is gone.
class EdgeOffline : public ::testing::Test, public EdgeBench {
 protected:
  void SetUp() override {
    start_server();
    make_node();
    make_pod("p1");
    make_pod("p2");
    start_agent();
    ASSERT_TRUE(wait_for_link("connected"));
    warm({node_pods, own_node});
  }

  void cut(int signal) {
    if (signal == SIGKILL) {
      server->kill();
    } else {
      server->signal(signal);
    }
    ASSERT_TRUE(wait_for_link("offline"));
  }
  void heal() {
    if (server->wait(0s)) {
      start_server();
    } else {
      server->signal(SIGCONT);
    }
    ASSERT_TRUE(wait_for_link("connected"));
  }
};

TEST_F(EdgeOffline, AWatchOutlivesTheOutageAndEndsWhereLocalVersionsDo) {
  const std::string version = get(agent_port, node_pods).text({"metadata", "resourceVersion"});
  Watch watch(agent_port,
              node_pods + "&watch=true&allowWatchBookmarks=true&resourceVersion=" + version);
  ASSERT_EQ(watch.opened().status, 200) << watch.opened().body;
  cut(SIGSTOP);
  for (int i = 0; i < 3; ++i) {
    const auto bookmark = watch.next();
    ASSERT_TRUE(bookmark);
    EXPECT_EQ(bookmark->type, "BOOKMARK");
  }
  std::uint64_t last = local;
  for (int i = 0; i < 5; ++i) {
    const std::string text = "Phase" + std::to_string(i);
    const Answer patched = ask(agent_port, patch_pod("p1", text));
    ASSERT_EQ(patched.status, 200) << patched.body;
    EXPECT_EQ(patched.text({"status", "phase"}), text);
    const auto event = watch.next_change();
    ASSERT_TRUE(event);
    EXPECT_EQ(event->type, "MODIFIED");
    EXPECT_EQ(event->text({"status", "phase"}), text);
    EXPECT_EQ(event->text({"kind"}), "Pod");
    EXPECT_GT(event->version(), last) << "local versions increase";
    last = event->version();
    EXPECT_EQ(patched.text({"metadata", "resourceVersion"}), std::to_string(last));
  }
  EXPECT_EQ(get(agent_port, pod_path("p1")).text({"status", "phase"}), "Phase4");
  heal();
  const auto end = watch.next_change();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->type, "ERROR");
  EXPECT_EQ(end->text({"code"}), "410");
  EXPECT_FALSE(watch.next_change());
  EXPECT_TRUE(watch.ended());

  EXPECT_EQ(get_on_server(pod_path("p1")).text({"status", "phase"}), "Phase4");
  const Answer again = get(agent_port, node_pods + "&resourceVersion=" + std::to_string(last));
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(again.value().at("items").as_array().size(), 2u);
  const std::string back = again.text({"metadata", "resourceVersion"});
  EXPECT_LT(std::stoull(back), local);
  Watch stale(agent_port, node_pods + "&watch=true&resourceVersion=" + std::to_string(last));
  EXPECT_EQ(stale.opened().status, 410) << stale.opened().body;
  Watch next(agent_port, node_pods + "&watch=true&resourceVersion=" + back);
  ask_server(patch_pod("p2", "FromTheCloud"));
  const auto news = next.next_change();
  ASSERT_TRUE(news);
  EXPECT_EQ(news->text({"status", "phase"}), "FromTheCloud");
}

TEST_F(EdgeOffline, WhatDescribesTheApiIsKeptForEveryClient) {
  const auto look = [this](const std::string& target) {
    return ask(agent_port, {.target = target, .user_agent = "some-tool/1.0"});
  };
  const std::string kept[] = {"/version", "/api", "/apis", "/apis/apps/v1", "/openapi/v2"};
  std::vector<Answer> before;
  for (const std::string& target : kept) {
    before.push_back(look(target));
    EXPECT_EQ(before.back().status, 200) << target;
  }
  EXPECT_EQ(look("/healthz").status, 200);
  cut(SIGKILL);
  for (std::size_t i = 0; i < std::size(kept); ++i) {
    const Answer after = look(kept[i]);
    EXPECT_EQ(after.status, 200) << kept[i];
    EXPECT_EQ(after.body, before[i].body) << kept[i];
  }
  EXPECT_EQ(look("/healthz").status, 503) << "the cloud's health is not known";
  EXPECT_EQ(look("/api/v1/pods").status, 503);
}

TEST_F(EdgeOffline, WhatWasNeverListedIsUnavailableAndNeverEmpty) {
  warm({"/api/v1/services"});
  cut(SIGKILL);
  const std::string unknown[] = {"/api/v1/configmaps",
                                 "/api/v1/namespaces/ns/secrets",
                                 "/api/v1/configmaps?resourceVersion=0",
                                 "/api/v1/configmaps?watch=true",
                                 "/api/v1/namespaces/ns/configmaps/c",
                                 pod_path("p3"),
                                 "/apis/apps/v1/deployments",
                                 "/api"};
  for (const std::string& target : unknown) {
    const Answer answer = get(agent_port, target);
    EXPECT_EQ(answer.status, 503) << target << " " << answer.body;
    EXPECT_EQ(answer.text({"kind"}), "Status") << answer.body;
    EXPECT_EQ(answer.text({"reason"}), "ServiceUnavailable") << answer.body;
    EXPECT_EQ(answer.headers.get("retry-after"), "")
        << target << ": with Retry-After clients would retry without telling the user";
  }
  EXPECT_EQ(get(agent_port, nodes + "/edge-b").status, 503)
      << "only the node's own object is cached";
  const Answer absent = get(agent_port, "/api/v1/namespaces/ns/services/none");
  EXPECT_EQ(absent.status, 404) << "the list of services is cached completely: " << absent.body;
}

TEST_F(EdgeOffline, WritesAreAnsweredAsTheTableSays) {
  cut(SIGSTOP);
  struct Case {
    Ask ask;
    int status;
    std::string part;
  };
  const std::string lease = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
  const Case cases[] = {
      {{Method::post, nodes, R"({"metadata":{"name":"edge-a"}})"}, 409, "AlreadyExists"},
      {{Method::post, nodes, R"({"metadata":{"name":"edge-b"}})"}, 503, "not this agent's node"},
      {{Method::post, "/api/v1/namespaces/ns/configmaps", R"({"metadata":{"name":"c"}})"},
       503,
       "needs the cloud"},
      {{Method::remove, pod_path("p1")}, 503, "only the deletion of a stopped pod"},
      {{Method::patch, nodes + "/edge-b/status", phase("x")}, 503, "needs the cloud"},
      {{Method::patch, nodes + "/edge-a", R"({"metadata":{"labels":{"a":"b"}}})"}, 503, "cloud"},
      {{Method::post, "/api/v1/namespaces/ns/serviceaccounts/default/token", "{}"}, 503, "token"},
      {{Method::post, "/api/v1/namespaces/ns/pods", R"({"metadata":{"name":"x"}})"}, 503, "mirror"},
      {{Method::post, lease, R"({"metadata":{"name":"edge-b"}})"}, 503, "needs the cloud"},
      {{Method::patch, pod_path("p9") + "/status", phase("x")}, 503, "not known here"},
      {{Method::post, "/api/v1/namespaces/ns/events",
        R"({"metadata":{"name":"e"},"involvedObject":{"namespace":"ns","name":"p1"}})"},
       201,
       "\"e\""},
      {{Method::remove, pod_path("p2"), R"({"gracePeriodSeconds":0})"}, 200, "Success"},
  };
  for (const Case& c : cases) {
    const Answer answer = ask(agent_port, c.ask);
    EXPECT_EQ(answer.status, c.status) << c.ask.target << " " << answer.body;
    EXPECT_NE(answer.body.find(c.part), std::string::npos) << c.ask.target << " " << answer.body;
  }
  const json::value items = get(agent_port, node_pods).value().at("items");
  EXPECT_EQ(items.as_array().size(), 1u) << "the deleted one is gone";
  heal();
  EXPECT_EQ(get_on_server(pod_path("p2")).status, 404);
  EXPECT_EQ(get_on_server("/api/v1/namespaces/ns/events/e").status, 200);
}

TEST_F(EdgeOffline, TheOwnLeaseIsAlwaysAnsweredAndItsTimeGrows) {
  const std::string leases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
  const std::string mine = leases + "/edge-a";
  std::string last;
  const auto renew = [this, &last, &mine](const Ask& how) {
    const Answer answer = ask(agent_port, how);
    ASSERT_EQ(answer.status / 100, 2) << answer.body;
    const std::string time = answer.text({"spec", "renewTime"});
    EXPECT_GT(time, last);
    EXPECT_EQ(answer.text({"spec", "holderIdentity"}), "edge-a");
    EXPECT_EQ(answer.text({"metadata", "name"}), "edge-a");
    last = time;
    const MonoTime before = now();
    EXPECT_LT(now() - before, 1s);
    (void)mine;
  };
  renew({.method = Method::put, .target = mine, .body = "{}"});
  cut(SIGSTOP);
  renew({.target = mine});
  for (int i = 0; i < 20; ++i) renew({.method = Method::put, .target = mine, .body = "{}"});
  renew({.method = Method::post, .target = leases, .body = R"({"metadata":{"name":"edge-a"}})"});
  launch_agent();
  ASSERT_TRUE(eventually(10s, [this] { return agent_ready(); }));
  renew({.target = mine});
  heal();
  renew({.method = Method::put, .target = mine, .body = "{}"});
  const auto server_time = [this, &mine] {
    return get_on_server(mine).text({"spec", "renewTime"});
  };
  const std::string first = server_time();
  EXPECT_TRUE(eventually(10s, [first, &server_time] { return server_time() > first; }));
}

TEST_F(EdgeOffline, ARestartWhileCutOffChangesNothing) {
  cut(SIGKILL);
  ASSERT_EQ(ask(agent_port, patch_pod("p1", "Before")).status, 200);
  const Answer before = get(agent_port, node_pods);
  const std::string version = before.text({"metadata", "resourceVersion"});
  agent->kill();
  launch_agent();
  ASSERT_TRUE(eventually(10s, [this] { return agent_ready(); }));
  EXPECT_EQ(get(agent_port, node_pods).body, before.body);
  EXPECT_EQ(get(agent_port, "/api/v1/configmaps").status, 503);
  Watch watch(agent_port, node_pods + "&watch=true&resourceVersion=" + version);
  ASSERT_EQ(watch.opened().status, 200) << watch.opened().body;
  ASSERT_EQ(ask(agent_port, patch_pod("p2", "After")).status, 200);
  const auto event = watch.next_change();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->text({"metadata", "name"}), "p2");
  EXPECT_GT(event->version(), std::stoull(version));
  heal();
  EXPECT_EQ(get_on_server(pod_path("p1")).text({"status", "phase"}), "Before");
  EXPECT_EQ(get_on_server(pod_path("p2")).text({"status", "phase"}), "After");
}

}  // namespace
}  // namespace holdfast::test
