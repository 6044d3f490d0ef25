// The lab's controllers: deployments become pods, pods get nodes, and objects without an owner are
// deleted.

#include "agent/lab/rules/matching.h"
#include "sync/wire/read.h"
#include "test/unit/agent/apiserver/api_server_fixture.h"

namespace holdfast::test {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;

constexpr std::string_view apps = "/apis/apps/v1/namespaces/default/";
constexpr std::string_view pods = "/api/v1/namespaces/default/pods";

json::object object(std::string_view text) { return json::parse(text).as_object(); }

json::object node(std::string_view name) {
  json::object made = object(R"({"status":{"conditions":[{"type":"Ready","status":"True"}]}})");
  made["metadata"] = json::object{{"name", name}};
  return made;
}

// Adds a node without taints, so that pods are scheduled to it at once.
void add_node(ApiServerFixture& fixture, std::string_view name) {
  fixture.post("/api/v1/nodes", node(name));
  fixture.patch("/api/v1/nodes/" + std::string(name), object(R"({"spec":{"taints":null}})"));
}

json::object workload(std::string_view name, int replicas) {
  json::object made =
      object(R"({"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":)"
             R"({"a":"b"}},"spec":{"containers":[{"name":"c","image":"x:1"}]}}}})");
  made["metadata"] = json::object{{"name", name}};
  if (replicas >= 0) made["spec"].as_object()["replicas"] = replicas;
  return made;
}

std::vector<json::object> pods_of(ApiServerFixture& fixture) {
  std::vector<json::object> all;
  const json::object list = fixture.get(std::string(pods));
  for (const json::value& item : list.at("items").as_array()) {
    all.push_back(item.as_object());
  }
  return all;
}

std::map<std::string, int> pods_by_node(ApiServerFixture& fixture) {
  std::map<std::string, int> counts;
  for (const json::object& pod : pods_of(fixture)) {
    ++counts[std::string(sync::wire::dig_text(pod, {"spec", "nodeName"}))];
  }
  return counts;
}

// Posts the running status of every bound pod, in place of a kubelet.
void run_all(ApiServerFixture& fixture) {
  for (const json::object& pod : pods_of(fixture)) {
    if (sync::wire::dig_text(pod, {"spec", "nodeName"}).empty()) continue;
    const std::string path = std::string(pods) + "/" + std::string(sync::wire::name_of(pod));
    if (sync::wire::is_terminating(pod)) {
      fixture.remove(path, R"({"gracePeriodSeconds":0})");
      continue;
    }
    fixture.patch(path + "/status", object(R"({"status":{"phase":"Running","conditions":)"
                                           R"([{"type":"Ready","status":"True"}]}})"));
  }
}

void settle(ApiServerFixture& fixture) {
  for (int round = 0; round < 10; ++round) {
    fixture.advance(1s);
    run_all(fixture);
  }
  fixture.advance(1s);
}

TEST(Controllers, ADeploymentBecomesRunningPods) {
  ApiServerFixture fixture;
  add_node(fixture, "a");
  add_node(fixture, "b");
  fixture.post(std::string(apps) + "deployments", workload("web", 4));
  settle(fixture);
  EXPECT_EQ(pods_by_node(fixture), (std::map<std::string, int>{{"a", 2}, {"b", 2}}));
  const json::object deployment = fixture.get(std::string(apps) + "deployments/web");
  EXPECT_EQ(sync::wire::dig_int(deployment, {"status", "readyReplicas"}), 4);
  EXPECT_EQ(sync::wire::dig_int(deployment, {"status", "observedGeneration"}), 1);
  const json::array& conditions = sync::wire::dig_list(deployment, {"status", "conditions"});
  ASSERT_EQ(conditions.size(), 2u);
  EXPECT_EQ(sync::wire::dig_text(conditions[0].as_object(), {"reason"}),
            "MinimumReplicasAvailable");
  EXPECT_EQ(sync::wire::dig_text(conditions[1].as_object(), {"reason"}), "NewReplicaSetAvailable");
}

TEST(Controllers, ComeToRest) {
  ApiServerFixture fixture;
  add_node(fixture, "a");
  fixture.post(std::string(apps) + "deployments", workload("web", 2));
  fixture.post(std::string(apps) + "daemonsets", workload("agent", -1));
  settle(fixture);
  const std::int64_t revision = fixture.server().registry().revision();
  for (int round = 0; round < 5; ++round) fixture.advance(10s);
  EXPECT_EQ(fixture.server().registry().revision(), revision);
}

TEST(Controllers, ScaleAndReplace) {
  ApiServerFixture fixture;
  add_node(fixture, "a");
  fixture.post(std::string(apps) + "deployments", workload("web", 1));
  settle(fixture);
  const std::string first(sync::wire::name_of(pods_of(fixture).at(0)));
  fixture.patch(std::string(apps) + "deployments/web/scale", object(R"({"spec":{"replicas":3}})"));
  settle(fixture);
  EXPECT_EQ(pods_of(fixture).size(), 3u);
  fixture.remove(std::string(pods) + "/" + first, R"({"gracePeriodSeconds":0})");
  settle(fixture);
  EXPECT_EQ(pods_of(fixture).size(), 3u);
  EXPECT_EQ(fixture.ask({.target = std::string(pods) + "/" + first}).status, 404);
}

TEST(Controllers, RollOutANewTemplate) {
  ApiServerFixture fixture;
  add_node(fixture, "a");
  fixture.post(std::string(apps) + "deployments", workload("web", 4));
  settle(fixture);
  json::object changed = workload("web", 4);
  changed.at("spec").at_pointer("/template/spec/containers/0/image") = "x:2";
  fixture.put(std::string(apps) + "deployments/web", changed);
  settle(fixture);
  EXPECT_EQ(pods_of(fixture).size(), 4u);
  for (const json::object& pod : pods_of(fixture)) {
    EXPECT_EQ(json::value(pod).at_pointer("/spec/containers/0/image"), "x:2");
  }
  EXPECT_EQ(fixture.get(std::string(apps) + "replicasets").at("items").as_array().size(), 2u);
  const json::object deployment = fixture.get(std::string(apps) + "deployments/web");
  EXPECT_EQ(sync::wire::dig_text(deployment,
                                 {"metadata", "annotations", "deployment.kubernetes.io/revision"}),
            "2");
}

TEST(Controllers, ADaemonSetFollowsTheNodes) {
  ApiServerFixture fixture;
  add_node(fixture, "a");
  fixture.post(std::string(apps) + "daemonsets", workload("agent", -1));
  settle(fixture);
  add_node(fixture, "b");
  settle(fixture);
  EXPECT_EQ(pods_by_node(fixture), (std::map<std::string, int>{{"a", 1}, {"b", 1}}));
  fixture.remove("/api/v1/nodes/a");
  settle(fixture);
  EXPECT_EQ(pods_by_node(fixture), (std::map<std::string, int>{{"b", 1}}));
  const json::object set = fixture.get(std::string(apps) + "daemonsets/agent");
  EXPECT_EQ(sync::wire::dig_int(set, {"status", "numberReady"}), 1);
}

TEST(Controllers, PodsOfALostNodeAreMadeElsewhere) {
  ApiServerFixture fixture;
  add_node(fixture, "a");
  fixture.post(std::string(apps) + "deployments", workload("web", 2));
  settle(fixture);
  add_node(fixture, "b");
  fixture.remove("/api/v1/nodes/a");
  settle(fixture);
  EXPECT_EQ(pods_by_node(fixture), (std::map<std::string, int>{{"b", 2}}));
}

TEST(Controllers, WhatIsOwnedGoesWithItsOwner) {
  ApiServerFixture fixture;
  add_node(fixture, "a");
  fixture.post(std::string(apps) + "deployments", workload("web", 2));
  settle(fixture);
  fixture.remove(std::string(apps) + "deployments/web");
  settle(fixture);
  EXPECT_EQ(pods_of(fixture).size(), 0u);
  EXPECT_EQ(fixture.get(std::string(apps) + "replicasets").at("items").as_array().size(), 0u);
}

TEST(Controllers, OrphansStay) {
  ApiServerFixture fixture;
  add_node(fixture, "a");
  fixture.post(std::string(apps) + "deployments", workload("web", 2));
  settle(fixture);
  fixture.remove(std::string(apps) + "deployments/web", R"({"propagationPolicy":"Orphan"})");
  settle(fixture);
  EXPECT_EQ(pods_of(fixture).size(), 2u);
  const json::object sets = fixture.get(std::string(apps) + "replicasets");
  EXPECT_EQ(sync::wire::dig(sets.at("items").as_array().at(0).as_object(),
                            {"metadata", "ownerReferences"}),
            nullptr);
}

TEST(Controllers, SayWhyAPodWaits) {
  ApiServerFixture fixture;
  fixture.post("/api/v1/nodes", node("a"));  // with the taint of a node that is not Ready yet
  fixture.post(std::string(pods),
               object(R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c",)"
                      R"("image":"x"}]}})"));
  fixture.advance(1s);
  const json::object pod = fixture.get(std::string(pods) + "/p");
  const json::object& condition =
      sync::wire::dig_list(pod, {"status", "conditions"}).at(0).as_object();
  EXPECT_EQ(sync::wire::dig_text(condition, {"reason"}), "Unschedulable");
  EXPECT_EQ(
      sync::wire::dig_text(condition, {"message"}),
      "0/1 nodes are available: 1 node(s) had untolerated taint "
      "{node.kubernetes.io/not-ready: }. preemption: 0/1 nodes are available: 1 Preemption is "
      "not helpful for scheduling.");
  fixture.patch("/api/v1/nodes/a", object(R"({"spec":{"taints":null}})"));
  fixture.advance(2s);
  EXPECT_EQ(pods_by_node(fixture), (std::map<std::string, int>{{"a", 1}}));
}

TEST(Controllers, AnImportantPodTakesTheRoomOfALesserOne) {
  ApiServerFixture fixture;
  json::object made = node("a");
  made["status"].as_object()["allocatable"] =
      json::object{{"cpu", "1"}, {"memory", "1Gi"}, {"pods", "9"}};
  fixture.post("/api/v1/nodes", made);
  fixture.patch("/api/v1/nodes/a", object(R"({"spec":{"taints":null}})"));
  fixture.post("/apis/scheduling.k8s.io/v1/priorityclasses",
               object(R"({"metadata":{"name":"high"},"value":1000})"));
  const auto add = [&fixture](const char* name, const char* priority) {
    json::object pod =
        object(R"({"spec":{"containers":[{"name":"c","image":"x","resources":{"requests":)"
               R"({"cpu":"1"}}}]}})");
    pod["metadata"] = json::object{{"name", name}};
    pod["spec"].as_object()["priorityClassName"] = priority;
    fixture.post(std::string(pods), pod);
    fixture.advance(1s);
  };
  add("low", "");
  run_all(fixture);
  add("vip", "high");
  const json::object vip = fixture.get(std::string(pods) + "/vip");
  EXPECT_EQ(sync::wire::dig_text(vip, {"status", "nominatedNodeName"}), "a");
  const json::object low = fixture.get(std::string(pods) + "/low");
  EXPECT_TRUE(sync::wire::is_terminating(low));
  EXPECT_EQ(agent::lab::condition_status(low, "DisruptionTarget"), "True");
  std::map<std::string, int> reasons;
  const json::object events = fixture.get("/api/v1/namespaces/default/events");
  for (const json::value& item : events.at("items").as_array()) {
    ++reasons[std::string(sync::wire::dig_text(item.as_object(), {"reason"}))];
  }
  EXPECT_EQ(reasons, (std::map<std::string, int>{
                         {"FailedScheduling", 1}, {"Preempted", 1}, {"Scheduled", 1}}));
  settle(fixture);
  EXPECT_EQ(pods_by_node(fixture), (std::map<std::string, int>{{"a", 1}}));
  const json::object bound = fixture.get(std::string(pods) + "/vip");
  EXPECT_EQ(sync::wire::dig_text(bound, {"spec", "nodeName"}), "a");
  EXPECT_EQ(sync::wire::dig(bound, {"status", "nominatedNodeName"}), nullptr);
}

TEST(Controllers, GatesMayBeLiftedAndNotAdded) {
  ApiServerFixture fixture;
  add_node(fixture, "a");
  fixture.post(std::string(pods),
               object(R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":)"
                      R"("c","image":"x"}],"schedulingGates":[{"name":"e.com/g"},)"
                      R"({"name":"e.com/h"}]}})"));
  const auto gates = [&fixture](const std::string& list) {
    return fixture
        .ask({.method = "PATCH",
              .target = std::string(pods) + "/p",
              .body = R"({"spec":{"schedulingGates":)" + list + "}}",
              .content_type = "application/merge-patch+json"})
        .status;
  };
  fixture.advance(2s);
  EXPECT_EQ(pods_by_node(fixture), (std::map<std::string, int>{{"", 1}}));
  EXPECT_EQ(gates(R"([{"name":"e.com/g"},{"name":"e.com/h"},{"name":"e.com/i"}])"), 422);
  EXPECT_EQ(gates(R"([{"name":"e.com/h"}])"), 200);
  fixture.advance(2s);
  EXPECT_EQ(pods_by_node(fixture), (std::map<std::string, int>{{"", 1}}));
  EXPECT_EQ(gates("null"), 200);
  fixture.advance(2s);
  EXPECT_EQ(pods_by_node(fixture), (std::map<std::string, int>{{"a", 1}}));
}

TEST(Controllers, ABindingMayNameThePodsUid) {
  ApiServerFixture fixture(options_without_controllers());
  const json::object pod = fixture.post(
      std::string(pods),
      object(R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"x"}]}})"));
  const auto bind = [&fixture](const std::string& uid) {
    return fixture
        .ask({.method = "POST",
              .target = std::string(pods) + "/p/binding",
              .body = R"({"kind":"Binding","apiVersion":"v1","metadata":{"name":"p","uid":")" +
                      uid + R"("},"target":{"kind":"Node","name":"a"}})"})
        .status;
  };
  EXPECT_EQ(bind("another"), 409);
  EXPECT_EQ(bind(std::string(sync::wire::uid_of(pod))), 201);
}

TEST(Controllers, ABudgetHoldsEvictionsBack) {
  ApiServerFixture fixture;
  add_node(fixture, "a");
  fixture.post(std::string(apps) + "deployments", workload("web", 2));
  settle(fixture);
  json::object budget =
      object(R"({"spec":{"minAvailable":1,"selector":{"matchLabels":{"a":"b"}}}})");
  budget["metadata"] = json::object{{"name", "b"}};
  fixture.post("/apis/policy/v1/namespaces/default/poddisruptionbudgets", budget);
  fixture.advance(1s);
  const auto evict = [&fixture](const json::object& pod) {
    const std::string name(sync::wire::name_of(pod));
    return fixture.ask(
        {.method = "POST",
         .target = std::string(pods) + "/" + name + "/eviction",
         .body = R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":")" + name +
                 R"("}})"});
  };
  const std::vector<json::object> both = pods_of(fixture);
  EXPECT_EQ(evict(both.at(0)).status, 201);
  const TestResponse refused = evict(both.at(1));
  EXPECT_EQ(refused.status, 429);
  const json::object response = refused.object();
  const json::object& details = sync::wire::dig_object(response, {"details"});
  EXPECT_EQ(sync::wire::dig_text(details.at("causes").as_array().at(0).as_object(), {"message"}),
            "The disruption budget b needs 1 healthy pods and has 2 currently");
  settle(fixture);  // the replacement runs
  EXPECT_EQ(evict(both.at(1)).status, 201);
}

}  // namespace
}  // namespace holdfast::test
