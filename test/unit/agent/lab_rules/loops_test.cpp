// The decisions of the built-in controllers.

#include <boost/json.hpp>

#include "agent/lab/loops/budgets.h"
#include "agent/lab/loops/daemons.h"
#include "agent/lab/loops/garbage_collection.h"
#include "agent/lab/loops/replicas.h"
#include "agent/lab/loops/rollout.h"
#include "agent/lab/rules/matching.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

json::object object(std::string_view text) { return json::parse(text).as_object(); }

WallTime now() { return parse_rfc3339("2026-11-21T01:00:00Z").value(); }

// A pod: its node and its state.
json::object pod(std::string_view name, std::string_view node, std::string_view phase,
                 bool ready = false) {
  json::object made = object(R"({"metadata":{},"spec":{"schedulerName":"default-scheduler"}})");
  sync::wire::make_object(made, {"metadata"})["name"] = name;
  if (!node.empty()) sync::wire::make_object(made, {"spec"})["nodeName"] = node;
  json::object& status = sync::wire::make_object(made, {"status"});
  status["phase"] = phase;
  if (ready) {
    set_condition(status, {{"type", "Ready"}, {"status", "True"}}, "2026-11-21T01:00:00Z");
  }
  return made;
}

Objects pointers(const std::vector<json::object>& all) {
  Objects made;
  for (const json::object& one : all) made.push_back(&one);
  return made;
}

TEST(PlanReplicas, MakesWhatIsMissing) {
  const json::object set =
      object(R"({"metadata":{"generation":4},"spec":{"replicas":4,"template":{"metadata":{}}}})");
  const std::vector<json::object> pods = {pod("a", "n", "Running", true), pod("b", "n", "Failed"),
                                          pod("c", "", "Pending")};
  const ReplicaPlan plan = plan_replicas(set, pointers(pods));
  EXPECT_EQ(plan.create, 2u);
  EXPECT_EQ(plan.remove, std::vector<std::string>{});
  EXPECT_EQ(json::serialize(plan.status),
            R"({"replicas":2,"fullyLabeledReplicas":2,"readyReplicas":1,"availableReplicas":1,)"
            R"("observedGeneration":4})");
  EXPECT_EQ(plan_replicas(set, pointers(pods), 1).create, 1u);
}

TEST(PlanReplicas, RemovesTheLeastUsefulFirst) {
  const json::object set = object(R"({"spec":{"replicas":1}})");
  const std::vector<json::object> pods = {
      pod("ready", "n", "Running", true), pod("unready", "n", "Running"),
      pod("bound", "n", "Pending"), pod("unbound", "", "Pending")};
  EXPECT_EQ(plan_replicas(set, pointers(pods)).remove,
            (std::vector<std::string>{"unbound", "bound", "unready"}));
}

constexpr std::string_view deployment_text =
    R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d","namespace":"n",)"
    R"("uid":"u"},"spec":{"replicas":4,"selector":{"matchLabels":{"a":"b"}},)"
    R"("strategy":{"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":"25%",)"
    R"("maxSurge":"25%"}},"revisionHistoryLimit":1,)"
    R"("template":{"metadata":{"labels":{"a":"b"}},"spec":{"x":1}}}})";

json::object set_of(std::string_view hash, std::int64_t replicas, std::int64_t available,
                    int revision) {
  json::object set = object(R"({"metadata":{},"spec":{},"status":{}})");
  sync::wire::make_object(set, {"metadata"})["name"] = "d-" + std::string(hash);
  sync::wire::make_object(set, {"metadata", "labels"})[hash_label] = hash;
  sync::wire::make_object(set, {"metadata", "annotations"})[revision_note] =
      std::to_string(revision);
  sync::wire::make_object(set, {"spec"})["replicas"] = replicas;
  sync::wire::make_object(set, {"status"})["replicas"] = replicas;
  sync::wire::make_object(set, {"status"})["availableReplicas"] = available;
  return set;
}

TEST(PlanRollout, StartsWhole) {
  const json::object deployment = object(deployment_text);
  const RolloutPlan plan = plan_rollout(deployment, {}, now());
  const std::string hash = template_hash(deployment);
  ASSERT_TRUE(plan.create);
  EXPECT_EQ(plan.revision, 1);
  EXPECT_EQ(sync::wire::name_of(*plan.create), "d-" + hash);
  EXPECT_EQ(sync::wire::dig_int(*plan.create, {"spec", "replicas"}), 4);
  EXPECT_EQ(
      sync::wire::dig_text(
          sync::wire::dig_object(*plan.create, {"spec", "selector", "matchLabels"}), {hash_label}),
      hash);
  EXPECT_TRUE(is_controlled_by(*plan.create, "u"));
}

TEST(PlanRollout, MovesWithinItsBudget) {
  const json::object deployment = object(deployment_text);
  const std::string hash = template_hash(deployment);
  struct Step {
    std::int64_t old_has, old_up, new_has, new_up;
    std::map<std::string, std::int64_t> resize;
  };
  const std::string fresh = "d-" + hash;
  const Step steps[] = {
      {4, 4, 0, 0, {{"d-old", 3}, {fresh, 1}}},  // one pod too many and one too few are allowed
      {3, 3, 1, 0, {{fresh, 2}}},
      {3, 3, 2, 2, {{"d-old", 1}}},
      {1, 1, 2, 2, {{fresh, 4}}},
      {1, 1, 4, 4, {{"d-old", 0}}},
      {0, 0, 4, 4, {}},
      {4, 1, 0, 0, {{"d-old", 1}, {fresh, 1}}},  // pods that are not ready are removed first
  };
  for (const Step& step : steps) {
    const std::vector<json::object> sets = {set_of("old", step.old_has, step.old_up, 1),
                                            set_of(hash, step.new_has, step.new_up, 2)};
    EXPECT_EQ(plan_rollout(deployment, pointers(sets), now()).resize, step.resize)
        << step.old_has << " " << step.new_has;
  }
}

TEST(PlanRollout, RecreateWaitsForTheOldToGo) {
  json::object deployment = object(deployment_text);
  sync::wire::make_object(deployment, {"spec", "strategy"})["type"] = "Recreate";
  const std::string hash = template_hash(deployment);
  const std::vector<json::object> before = {set_of("old", 4, 4, 1), set_of(hash, 0, 0, 2)};
  EXPECT_EQ(plan_rollout(deployment, pointers(before), now()).resize,
            (std::map<std::string, std::int64_t>{{"d-old", 0}}));
  const std::vector<json::object> after = {set_of("old", 0, 0, 1), set_of(hash, 0, 0, 2)};
  EXPECT_EQ(plan_rollout(deployment, pointers(after), now()).resize,
            (std::map<std::string, std::int64_t>{{"d-" + hash, 4}}));
}

TEST(PlanRollout, ForgetsOldHistory) {
  const json::object deployment = object(deployment_text);
  const std::vector<json::object> sets = {set_of("b", 0, 0, 2), set_of("a", 0, 0, 1),
                                          set_of(template_hash(deployment), 4, 4, 3)};
  EXPECT_EQ(plan_rollout(deployment, pointers(sets), now()).remove,
            (std::vector<std::string>{"d-a"}));
}

json::object node(std::string_view name, std::string_view more = "{}") {
  json::object made = object(more);
  sync::wire::make_object(made, {"metadata"})["name"] = name;
  set_condition(sync::wire::make_object(made, {"status"}), {{"type", "Ready"}, {"status", "True"}},
                "t");
  return made;
}

TEST(PlanDaemons, HasOneOnEveryNodeThatItIsMeantFor) {
  const json::object set =
      object(R"({"metadata":{"name":"s","uid":"u"},"spec":{"template":{"spec":{"nodeSelector":)"
             R"({"os":"linux"}}}}})");
  const std::string linux = R"({"metadata":{"labels":{"os":"linux"}}})";
  const std::vector<json::object> nodes = {
      node("a", linux), node("b", linux), node("other"),
      node("cordoned", R"({"metadata":{"labels":{"os":"linux"}},"spec":{"taints":[)"
                       R"({"key":"node.kubernetes.io/unschedulable","effect":"NoSchedule"}]}})"),
      node("tainted", R"({"metadata":{"labels":{"os":"linux"}},"spec":{"taints":[)"
                      R"({"key":"k","effect":"NoExecute"}]}})")};
  json::object running = daemon_pod(set, "a");
  sync::wire::make_object(running, {"metadata"})["name"] = "s-a";
  sync::wire::make_object(running, {"status"})["phase"] = "Running";
  json::object evicted = running;
  sync::wire::make_object(evicted, {"metadata"})["name"] = "s-t";
  sync::wire::make_object(evicted, {"spec"})["nodeName"] = "tainted";
  const std::vector<json::object> pods = {running, evicted};
  const DaemonPlan plan = plan_daemons(set, pointers(pods), pointers(nodes));
  EXPECT_EQ(plan.create_on, (std::vector<std::string>{"b", "cordoned"}));
  EXPECT_EQ(plan.remove, (std::vector<std::string>{"s-t"}));
  EXPECT_EQ(sync::wire::dig_int(plan.status, {"desiredNumberScheduled"}), 3);
  EXPECT_EQ(sync::wire::dig_int(plan.status, {"currentNumberScheduled"}), 1);
  EXPECT_EQ(sync::wire::dig_int(plan.status, {"numberMisscheduled"}), 1);
}

TEST(PodGcAction, TakesWhatNobodyLooksAfter) {
  const Names nodes = {"here"};
  EXPECT_EQ(pod_gc_action(pod("p", "here", "Running"), nodes), PodGcAction::keep);
  EXPECT_EQ(pod_gc_action(pod("p", "gone", "Running"), nodes), PodGcAction::force);
  EXPECT_EQ(pod_gc_action(pod("p", "", "Pending"), nodes), PodGcAction::keep);
  const json::object owned =
      object(R"({"metadata":{"ownerReferences":[{"uid":"a"},{"uid":"b"}]}})");
  EXPECT_FALSE(is_orphan(owned, {"b"}));
  EXPECT_TRUE(is_orphan(owned, {"c"}));
  EXPECT_FALSE(is_orphan(object(R"({"metadata":{}})"), {}));
}

TEST(Budgets, CountWhatMayGo) {
  const json::object budget =
      object(R"({"metadata":{"generation":2},"spec":{"minAvailable":"50%","selector":{}}})");
  const std::vector<json::object> pods = {pod("a", "n", "Running", true),
                                          pod("b", "n", "Running", true),
                                          pod("c", "n", "Running", true), pod("d", "", "Pending")};
  const json::object status = budget_status(budget, pointers(pods), 4);
  EXPECT_EQ(json::serialize(status),
            R"({"observedGeneration":2,"disruptionsAllowed":1,"currentHealthy":3,)"
            R"("desiredHealthy":2,"expectedPods":4})");
  json::object changed = budget;
  EXPECT_EQ(decide_eviction(changed), EvictionDecision::outdated);
  changed["status"] = status;
  EXPECT_EQ(decide_eviction(changed), EvictionDecision::allowed);
  changed["status"] = record_eviction(changed, "a", "2026-11-21T01:00:00Z");
  EXPECT_EQ(decide_eviction(changed), EvictionDecision::exhausted);
}

}  // namespace
}  // namespace holdfast::agent::lab
