// What the agent and holdfastctl report about a boot without the cloud, based on real scopes.

#include "agent/edge/cache/outage_readiness.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "agent/ctl/show.h"
#include "agent/ctl/source.h"
#include "test/support/virtual_time.h"
#include "test/unit/agent/edge/cache_run.h"
#include "test/unit/agent/edge/uplink/uplink_fixture.h"

namespace holdfast::agent::cached {
namespace {

using namespace std::chrono_literals;

store::ScopeKey scope_of(std::string resource, std::string space = "", std::string field = "") {
  return {.owner = "node",
          .version = "v1",
          .resource = std::move(resource),
          .namespace_name = std::move(space),
          .field_selector = std::move(field),
          .encoding = "json"};
}

void fill(Agent& run, const store::ScopeKey& key, const std::string& kind,
          const std::map<sync::watch::ObjectKey, std::string>& bodies) {
  const ScopePtr scope = run.scopes.open(key).value();
  sync::watch::WatchCache::Objects all;
  for (const auto& [name, body] : bodies) {
    all[name] = {"u", 3, std::make_shared<const std::string>(body)};
  }
  ASSERT_TRUE(run.content.replace(*scope, std::move(all), 9, {kind, "v1"}));
}

std::string pod(const std::string& name, const std::string& spec) {
  return R"({"metadata":{"namespace":"ns","name":")" + name + R"(","uid":"uid-)" + name +
         R"(","resourceVersion":"3"},"spec":{)" + spec + "}}";
}

constexpr const char* wants_map = R"("volumes":[{"configMap":{"name":"m"}}])";
constexpr const char* wants_token =
    R"("volumes":[{"projected":{"sources":[{"serviceAccountToken":{"path":"token"}}]}}])";

// A node with three pods: one is complete, one lacks its ConfigMap, one lacks its token.
void fill_node(Agent& run) {
  fill(run, scope_of("pods", "", "spec.nodeName=n"), "Pod",
       {{key("good"), pod("good", wants_map)},
        {key("mapless"), pod("mapless", R"("volumes":[{"configMap":{"name":"other"}}])")},
        {key("tokenless"), pod("tokenless", wants_token)}});
  fill(run, scope_of("nodes", "", "metadata.name=n"), "Node",
       {{{"", "n"},
         R"({"metadata":{"name":"n","uid":"u","resourceVersion":"3","labels":{"zone":"z"}},)"
         R"("status":{"allocatable":{"cpu":"1","memory":"1Gi","pods":"5"}}})"}});
  fill(run, scope_of("configmaps", "ns", "metadata.name=m"), "ConfigMap",
       {{key("m"), R"({"metadata":{"namespace":"ns","name":"m","resourceVersion":"3"}})"}});
}

std::string listed(const Result<NodeReadiness>& node) {
  if (!node) return node.error().what;
  std::string text = node->node_name + ":";
  for (const sync::autonomy::PodReadiness& pod : node->pods) {
    text += " " + pod.name;
    for (const sync::autonomy::Reason& reason : pod.reasons) {
      text += "(" + std::string(to_string(reason.obstacle)) + ": " + reason.text + ")";
    }
  }
  return text;
}

class OutageReadinessTest : public testing::Test {
 protected:
  test::ScratchDir dir_;
  test::VirtualTime time_;
};

TEST_F(OutageReadinessTest, ReadsWhatTheScopesHold) {
  Agent run(time_.context(), dir_.path());
  const WallTime now = run.clock.wall();
  EXPECT_EQ(listed(check_node_readiness(run.table, run.answers, now)),
            "the node's list of pods was never received");
  fill_node(run);
  EXPECT_EQ(listed(check_node_readiness(run.table, run.answers, now)),
            "n: good mapless(config_map: ConfigMap ns/other was never received) "
            "tokenless(token_missing: its token was never received)");

  fill(run, scope_of("configmaps", "ns", "metadata.name=other"), "ConfigMap", {});
  const std::string request =
      R"({"spec":{"audiences":["api"],"boundObjectRef":{"kind":"Pod","uid":"uid-tokenless"}}})";
  const store::Answer token{
      .status = 201, .content_type = {}, .bytes = request, .expires = now + 1h};
  ASSERT_TRUE(run.answers.put(
      "node", "token /api/v1/namespaces/ns/serviceaccounts/default/token 00", token));
  const auto node = check_node_readiness(run.table, run.answers, now);
  EXPECT_EQ(listed(node),
            "n: good mapless(config_map: ConfigMap ns/other does not exist) tokenless");
  EXPECT_EQ(node->pods.back().until, now + 1h);

  ASSERT_TRUE(run.scopes.open(scope_of("services")));
  EXPECT_NE(listed(check_node_readiness(run.table, run.answers, now))
                .find("the list of Services was never received"),
            std::string::npos);
  fill(run, scope_of("services"), "Service", {});
  EXPECT_EQ(listed(check_node_readiness(run.table, run.answers, now)), listed(node));
}

TEST_F(OutageReadinessTest, KnowsWhatTheKubeletWouldRefuse) {
  Agent run(time_.context(), dir_.path());
  fill_node(run);
  const std::string half =
      R"("containers":[{"name":"c","image":"i:1","resources":{"requests":{"cpu":"600m"}}}])";
  fill(run, scope_of("pods", "", "spec.nodeName=n"), "Pod",
       {{key("first"), pod("first", half)},
        {key("here"), pod("here", R"("nodeSelector":{"zone":"z"})")},
        {key("moved"), pod("moved", R"("nodeSelector":{"zone":"other"})")},
        {key("second"), pod("second", half)}});
  EXPECT_EQ(listed(check_node_readiness(run.table, run.answers, run.clock.wall())),
            "n: first here moved(admission: the kubelet would refuse it: NodeAffinity: Predicate "
            "NodeAffinity failed: node(s) didn't match Pod's node affinity/selector) "
            "second(admission: the kubelet would refuse it: OutOfcpu: Node didn't have enough "
            "resource: cpu, requested: 600, used: 600, capacity: 1000)");
}

TEST_F(OutageReadinessTest, AnotherOwnersCacheIsOfNoUse) {
  Agent run(time_.context(), dir_.path());
  fill_node(run);
  store::ScopeKey theirs = scope_of("configmaps");
  theirs.owner = "somebody";
  fill(run, theirs, "ConfigMap", {{key("other"), R"({"metadata":{"name":"other"}})"}});
  EXPECT_NE(listed(check_node_readiness(run.table, run.answers, run.clock.wall()))
                .find("ns/other was never received"),
            std::string::npos);
}

asio::awaitable<void> ask_ready(Source& source, Result<std::string>& told) {
  told = co_await source.ready();
}

TEST_F(OutageReadinessTest, HoldfastctlReadsADeadAgentsFiles) {
  {
    Agent run(time_.context(), dir_.path());
    fill_node(run);
    ASSERT_TRUE(run.scopes.flush());
  }
  const auto source = open_source(dir_.path().string(), "", time_.clock()).value();
  Result<std::string> told = fail(Errc::cancelled, "");
  asio::co_spawn(time_.context(), ask_ready(*source, told), asio::detached);
  time_.finish();
  ASSERT_TRUE(told) << told.error().what;
  const auto text = show_ready(*told);
  ASSERT_TRUE(text) << text.error().what << *told;
  EXPECT_NE(text->find("ns/good       yes"), std::string::npos) << *text;
  EXPECT_NE(text->find("ns/mapless    no"), std::string::npos) << *text;
  EXPECT_NE(text->find("1 of 3 pods would come back"), std::string::npos) << *text;
  EXPECT_EQ(exit_code_of_ready(*told), 1);
}

TEST(OutageReadinessPage, SaysWhenItCannotTell) {
  uplink::UplinkFixture fixture;
  EXPECT_NE(fixture.admin("/v1/ready").find("\"known\":false"), std::string::npos);
  EXPECT_EQ(fixture.metric("holdfast_edge_outage_readiness_known"), std::vector<std::string>{" 0"});
  EXPECT_EQ(fixture.metric("holdfast_edge_pods_not_ready_for_outage").size(),
            sync::autonomy::obstacles);
}

}  // namespace
}  // namespace holdfast::agent::cached
