// The lab's controllers: deployments become pods, pods get nodes, and objects without an owner are
// deleted.

#include "agent/lab/rules/matching.h"
#include "sync/wire/read.h"
#include "test/unit/agent/apiserver/rig.h"

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
void add_node(Rig& rig, std::string_view name) {
  rig.post("/api/v1/nodes", node(name));
  rig.patch("/api/v1/nodes/" + std::string(name), object(R"({"spec":{"taints":null}})"));
}

json::object workload(std::string_view name, int replicas) {
  json::object made =
      object(R"({"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":)"
             R"({"a":"b"}},"spec":{"containers":[{"name":"c","image":"x:1"}]}}}})");
  made["metadata"] = json::object{{"name", name}};
  if (replicas >= 0) made["spec"].as_object()["replicas"] = replicas;
  return made;
}

std::vector<json::object> pods_of(Rig& rig) {
  std::vector<json::object> all;
  const json::object list = rig.get(std::string(pods));
  for (const json::value& item : list.at("items").as_array()) {
    all.push_back(item.as_object());
  }
  return all;
}

std::map<std::string, int> pods_by_node(Rig& rig) {
  std::map<std::string, int> counts;
  for (const json::object& pod : pods_of(rig)) {
    ++counts[std::string(sync::wire::dig_text(pod, {"spec", "nodeName"}))];
  }
  return counts;
}

// Posts the running status of every bound pod, in place of a kubelet.
void run_all(Rig& rig) {
  for (const json::object& pod : pods_of(rig)) {
    if (sync::wire::dig_text(pod, {"spec", "nodeName"}).empty()) continue;
    const std::string path = std::string(pods) + "/" + std::string(sync::wire::name_of(pod));
    if (sync::wire::is_terminating(pod)) {
      rig.remove(path, R"({"gracePeriodSeconds":0})");
      continue;
    }
    rig.patch(path + "/status", object(R"({"status":{"phase":"Running","conditions":)"
                                       R"([{"type":"Ready","status":"True"}]}})"));
  }
}

void settle(Rig& rig) {
  for (int round = 0; round < 10; ++round) {
    rig.advance(1s);
    run_all(rig);
  }
  rig.advance(1s);
}

TEST(Controllers, ADeploymentBecomesRunningPods) {
  Rig rig;
  add_node(rig, "a");
  add_node(rig, "b");
  rig.post(std::string(apps) + "deployments", workload("web", 4));
  settle(rig);
  EXPECT_EQ(pods_by_node(rig), (std::map<std::string, int>{{"a", 2}, {"b", 2}}));
  const json::object deployment = rig.get(std::string(apps) + "deployments/web");
  EXPECT_EQ(sync::wire::dig_int(deployment, {"status", "readyReplicas"}), 4);
  EXPECT_EQ(sync::wire::dig_int(deployment, {"status", "observedGeneration"}), 1);
  const json::array& conditions = sync::wire::dig_list(deployment, {"status", "conditions"});
  ASSERT_EQ(conditions.size(), 2u);
  EXPECT_EQ(sync::wire::dig_text(conditions[0].as_object(), {"reason"}),
            "MinimumReplicasAvailable");
  EXPECT_EQ(sync::wire::dig_text(conditions[1].as_object(), {"reason"}), "NewReplicaSetAvailable");
}

TEST(Controllers, ComeToRest) {
  Rig rig;
  add_node(rig, "a");
  rig.post(std::string(apps) + "deployments", workload("web", 2));
  rig.post(std::string(apps) + "daemonsets", workload("agent", -1));
  settle(rig);
  const std::int64_t revision = rig.server().registry().revision();
  for (int round = 0; round < 5; ++round) rig.advance(10s);
  EXPECT_EQ(rig.server().registry().revision(), revision);
}

TEST(Controllers, ScaleAndReplace) {
  Rig rig;
  add_node(rig, "a");
  rig.post(std::string(apps) + "deployments", workload("web", 1));
  settle(rig);
  const std::string first(sync::wire::name_of(pods_of(rig).at(0)));
  rig.patch(std::string(apps) + "deployments/web/scale", object(R"({"spec":{"replicas":3}})"));
  settle(rig);
  EXPECT_EQ(pods_of(rig).size(), 3u);
  rig.remove(std::string(pods) + "/" + first, R"({"gracePeriodSeconds":0})");
  settle(rig);
  EXPECT_EQ(pods_of(rig).size(), 3u);
  EXPECT_EQ(rig.ask({.target = std::string(pods) + "/" + first}).status, 404);
}

TEST(Controllers, RollOutANewTemplate) {
  Rig rig;
  add_node(rig, "a");
  rig.post(std::string(apps) + "deployments", workload("web", 4));
  settle(rig);
  json::object changed = workload("web", 4);
  changed.at("spec").at_pointer("/template/spec/containers/0/image") = "x:2";
  rig.put(std::string(apps) + "deployments/web", changed);
  settle(rig);
  EXPECT_EQ(pods_of(rig).size(), 4u);
  for (const json::object& pod : pods_of(rig)) {
    EXPECT_EQ(json::value(pod).at_pointer("/spec/containers/0/image"), "x:2");
  }
  EXPECT_EQ(rig.get(std::string(apps) + "replicasets").at("items").as_array().size(), 2u);
  const json::object deployment = rig.get(std::string(apps) + "deployments/web");
  EXPECT_EQ(sync::wire::dig_text(deployment,
                                 {"metadata", "annotations", "deployment.kubernetes.io/revision"}),
            "2");
}

TEST(Controllers, ADaemonSetFollowsTheNodes) {
  Rig rig;
  add_node(rig, "a");
  rig.post(std::string(apps) + "daemonsets", workload("agent", -1));
  settle(rig);
  add_node(rig, "b");
  settle(rig);
  EXPECT_EQ(pods_by_node(rig), (std::map<std::string, int>{{"a", 1}, {"b", 1}}));
  rig.remove("/api/v1/nodes/a");
  settle(rig);
  EXPECT_EQ(pods_by_node(rig), (std::map<std::string, int>{{"b", 1}}));
  const json::object set = rig.get(std::string(apps) + "daemonsets/agent");
  EXPECT_EQ(sync::wire::dig_int(set, {"status", "numberReady"}), 1);
}

TEST(Controllers, PodsOfALostNodeAreMadeElsewhere) {
  Rig rig;
  add_node(rig, "a");
  rig.post(std::string(apps) + "deployments", workload("web", 2));
  settle(rig);
  add_node(rig, "b");
  rig.remove("/api/v1/nodes/a");
  settle(rig);
  EXPECT_EQ(pods_by_node(rig), (std::map<std::string, int>{{"b", 2}}));
}

TEST(Controllers, WhatIsOwnedGoesWithItsOwner) {
  Rig rig;
  add_node(rig, "a");
  rig.post(std::string(apps) + "deployments", workload("web", 2));
  settle(rig);
  rig.remove(std::string(apps) + "deployments/web");
  settle(rig);
  EXPECT_EQ(pods_of(rig).size(), 0u);
  EXPECT_EQ(rig.get(std::string(apps) + "replicasets").at("items").as_array().size(), 0u);
}

TEST(Controllers, OrphansStay) {
  Rig rig;
  add_node(rig, "a");
  rig.post(std::string(apps) + "deployments", workload("web", 2));
  settle(rig);
  rig.remove(std::string(apps) + "deployments/web", R"({"propagationPolicy":"Orphan"})");
  settle(rig);
  EXPECT_EQ(pods_of(rig).size(), 2u);
  const json::object sets = rig.get(std::string(apps) + "replicasets");
  EXPECT_EQ(sync::wire::dig(sets.at("items").as_array().at(0).as_object(),
                            {"metadata", "ownerReferences"}),
            nullptr);
}

TEST(Controllers, SayWhyAPodWaits) {
  Rig rig;
  rig.post("/api/v1/nodes", node("a"));  // with the taint of a node that is not Ready yet
  rig.post(std::string(pods),
           object(R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c",)"
                  R"("image":"x"}]}})"));
  rig.advance(1s);
  const json::object pod = rig.get(std::string(pods) + "/p");
  const json::object& condition =
      sync::wire::dig_list(pod, {"status", "conditions"}).at(0).as_object();
  EXPECT_EQ(sync::wire::dig_text(condition, {"reason"}), "Unschedulable");
  EXPECT_EQ(
      sync::wire::dig_text(condition, {"message"}),
      "0/1 nodes are available: 1 node(s) had untolerated taint "
      "{node.kubernetes.io/not-ready: }. preemption: 0/1 nodes are available: 1 Preemption is "
      "not helpful for scheduling.");
  rig.patch("/api/v1/nodes/a", object(R"({"spec":{"taints":null}})"));
  rig.advance(2s);
  EXPECT_EQ(pods_by_node(rig), (std::map<std::string, int>{{"a", 1}}));
}

TEST(Controllers, AnImportantPodTakesTheRoomOfALesserOne) {
  Rig rig;
  json::object made = node("a");
  made["status"].as_object()["allocatable"] =
      json::object{{"cpu", "1"}, {"memory", "1Gi"}, {"pods", "9"}};
  rig.post("/api/v1/nodes", made);
  rig.patch("/api/v1/nodes/a", object(R"({"spec":{"taints":null}})"));
  rig.post("/apis/scheduling.k8s.io/v1/priorityclasses",
           object(R"({"metadata":{"name":"high"},"value":1000})"));
  const auto add = [&rig](const char* name, const char* priority) {
    json::object pod =
        object(R"({"spec":{"containers":[{"name":"c","image":"x","resources":{"requests":)"
               R"({"cpu":"1"}}}]}})");
    pod["metadata"] = json::object{{"name", name}};
    pod["spec"].as_object()["priorityClassName"] = priority;
    rig.post(std::string(pods), pod);
    rig.advance(1s);
  };
  add("low", "");
  run_all(rig);
  add("vip", "high");
  const json::object vip = rig.get(std::string(pods) + "/vip");
  EXPECT_EQ(sync::wire::dig_text(vip, {"status", "nominatedNodeName"}), "a");
  const json::object low = rig.get(std::string(pods) + "/low");
  EXPECT_TRUE(sync::wire::is_terminating(low));
  EXPECT_EQ(agent::lab::condition_status(low, "DisruptionTarget"), "True");
  std::map<std::string, int> reasons;
  const json::object events = rig.get("/api/v1/namespaces/default/events");
  for (const json::value& item : events.at("items").as_array()) {
    ++reasons[std::string(sync::wire::dig_text(item.as_object(), {"reason"}))];
  }
  EXPECT_EQ(reasons, (std::map<std::string, int>{
                         {"FailedScheduling", 1}, {"Preempted", 1}, {"Scheduled", 1}}));
  settle(rig);
  EXPECT_EQ(pods_by_node(rig), (std::map<std::string, int>{{"a", 1}}));
  const json::object bound = rig.get(std::string(pods) + "/vip");
  EXPECT_EQ(sync::wire::dig_text(bound, {"spec", "nodeName"}), "a");
  EXPECT_EQ(sync::wire::dig(bound, {"status", "nominatedNodeName"}), nullptr);
}

TEST(Controllers, GatesMayBeLiftedAndNotAdded) {
  Rig rig;
  add_node(rig, "a");
  rig.post(std::string(pods), object(R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":)"
                                     R"("c","image":"x"}],"schedulingGates":[{"name":"e.com/g"},)"
                                     R"({"name":"e.com/h"}]}})"));
  const auto gates = [&rig](const std::string& list) {
    return rig
        .ask({.method = "PATCH",
              .target = std::string(pods) + "/p",
              .body = R"({"spec":{"schedulingGates":)" + list + "}}",
              .content_type = "application/merge-patch+json"})
        .status;
  };
  rig.advance(2s);
  EXPECT_EQ(pods_by_node(rig), (std::map<std::string, int>{{"", 1}}));
  EXPECT_EQ(gates(R"([{"name":"e.com/g"},{"name":"e.com/h"},{"name":"e.com/i"}])"), 422);
  EXPECT_EQ(gates(R"([{"name":"e.com/h"}])"), 200);
  rig.advance(2s);
  EXPECT_EQ(pods_by_node(rig), (std::map<std::string, int>{{"", 1}}));
  EXPECT_EQ(gates("null"), 200);
  rig.advance(2s);
  EXPECT_EQ(pods_by_node(rig), (std::map<std::string, int>{{"a", 1}}));
}

TEST(Controllers, ABindingMayNameThePodsUid) {
  Rig rig(quiet());
  const json::object pod = rig.post(
      std::string(pods),
      object(R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"x"}]}})"));
  const auto bind = [&rig](const std::string& uid) {
    return rig
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
  Rig rig;
  add_node(rig, "a");
  rig.post(std::string(apps) + "deployments", workload("web", 2));
  settle(rig);
  json::object budget =
      object(R"({"spec":{"minAvailable":1,"selector":{"matchLabels":{"a":"b"}}}})");
  budget["metadata"] = json::object{{"name", "b"}};
  rig.post("/apis/policy/v1/namespaces/default/poddisruptionbudgets", budget);
  rig.advance(1s);
  const auto evict = [&rig](const json::object& pod) {
    const std::string name(sync::wire::name_of(pod));
    return rig.ask({.method = "POST",
                    .target = std::string(pods) + "/" + name + "/eviction",
                    .body = R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":")" +
                            name + R"("}})"});
  };
  const std::vector<json::object> both = pods_of(rig);
  EXPECT_EQ(evict(both.at(0)).status, 201);
  const Told refused = evict(both.at(1));
  EXPECT_EQ(refused.status, 429);
  const json::object told = refused.object();
  const json::object& details = sync::wire::dig_object(told, {"details"});
  EXPECT_EQ(sync::wire::dig_text(details.at("causes").as_array().at(0).as_object(), {"message"}),
            "The disruption budget b needs 1 healthy pods and has 2 currently");
  settle(rig);  // the replacement runs
  EXPECT_EQ(evict(both.at(1)).status, 201);
}

}  // namespace
}  // namespace holdfast::test
