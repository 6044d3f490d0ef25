// ClusterState after each kind of input; and how the answers of extenders change a survey.

#include "sync/schedule/cluster_state.h"

#include "sync/schedule/extender_filter.h"
#include "test/unit/sync/schedule/cluster_fixture.h"

namespace holdfast::sync::schedule {
namespace {

using namespace std::chrono_literals;
using test::make_node;
using test::make_pod;

constexpr MonoTime start{1h};

struct StateBench {
  ClusterState state{{.scheduler = "holdfast-scheduler"}, start};
  MonoTime now = start;

  // Delivers the pod as a watch does, with a new resource version each time.
  void set(Pod pod) {
    pod.metadata.resource_version = std::to_string(++version);
    state.set(now, std::move(pod));
    state.check_invariants();
  }
  // The places of these pods in the queue: "p:active q:inFlight ".
  std::string places(const std::vector<std::string>& names) const {
    std::string text;
    for (const std::string& name : names) {
      const auto place = state.queue().place("uid-" + name);
      text += name + ":" + std::string(place ? to_string(*place) : "-") + " ";
    }
    return text;
  }
  std::int64_t used(const std::string& node) const {
    const NodeView* view = state.cluster().find(node);
    return view == nullptr ? -1 : view->requested.milli_cpu;
  }
  PodRef pop() {
    auto popped = state.queue().pop();
    state.check_invariants();
    return popped ? popped->pod : nullptr;
  }

  int version = 0;
};

TEST(ClusterState, APodWhoseNominatedNodeGetsWorseIsTriedAgain) {
  const auto with_taint = [](std::string_view effect) {
    Node node = make_node("a");
    Taint taint;
    taint.key = "node.kubernetes.io/unreachable";
    taint.effect = effect;
    node.spec.taints.push_back(taint);
    return node;
  };
  Node cordoned = make_node("a");
  cordoned.spec.unschedulable = true;
  Node relabelled = make_node("a");
  relabelled.metadata.labels.set("host", "other");
  Node heartbeat = make_node("a");
  heartbeat.metadata.labels.set("x", "y");
  const struct {
    const char* what;
    std::optional<Node> after;  // none: the node is removed
    bool retried;
  } rows[] = {{"unreachable", with_taint("NoSchedule"), true},
              {"a taint that only asks", with_taint("PreferNoSchedule"), false},
              {"cordoned", cordoned, true},
              {"smaller", make_node("a", 1), true},
              {"still large enough", make_node("a", 3), false},
              {"its label is another one", relabelled, true},
              {"another label", heartbeat, false},
              {"removed", std::nullopt, true}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    StateBench bench;
    bench.state.set(bench.now, make_node("a"));
    bench.state.set(bench.now, make_node("b"));
    for (const char* name : {"p", "q"}) {
      Pod pod = make_pod(name, 5, "2000");
      pod.spec.node_selector.set("host", name == std::string("p") ? "a" : "b");
      pod.status.nominated_node_name = name == std::string("p") ? "a" : "b";
      bench.set(pod);
      const PodRef popped = bench.pop();
      ASSERT_TRUE(bench.state.queue().requeue(bench.now, popped, {"NodeResourcesFit"}, {}));
    }
    ASSERT_EQ(bench.places({"p", "q"}), "p:unschedulable q:unschedulable ");
    if (row.after) {
      bench.state.set(bench.now, *row.after);
    } else {
      bench.state.remove_node(bench.now, "a");
    }
    bench.state.check_invariants();
    EXPECT_EQ(bench.places({"p", "q"}),
              row.retried ? "p:active q:unschedulable " : "p:unschedulable q:unschedulable ");
  }
}

TEST(ClusterState, OnlyPodsThatNameTheSchedulerWait) {
  StateBench bench;
  Pod other = make_pod("other", 0, "100");
  other.spec.scheduler_name = "somebody-else";
  Pod ended = make_pod("ended", 0, "100");
  ended.status.phase = "Failed";
  bench.set(make_pod("p", 0, "100"));
  bench.set(other);
  bench.set(ended);
  EXPECT_EQ(bench.places({"p", "other", "ended"}), "p:active other:- ended:- ");
  EXPECT_EQ(bench.state.live("uid-other"), nullptr);
}

TEST(ClusterState, AnAssumedPodCountsUntilTheWatchConfirmsIt) {
  StateBench bench;
  bench.state.set(bench.now, make_node("n"));
  bench.set(make_pod("p", 0, "1000"));
  const PodRef pod = bench.pop();
  EXPECT_EQ(bench.state.assume(bench.now, pod, "n")->node(), "n");
  EXPECT_EQ(bench.used("n"), 1000);
  EXPECT_TRUE(bench.state.is_assumed("uid-p"));
  // The watch still delivers the pod as waiting, which is older than the assumption.
  bench.set(make_pod("p", 0, "1000"));
  EXPECT_EQ(bench.used("n"), 1000);
  EXPECT_EQ(bench.places({"p"}), "p:inFlight ");
  bench.state.bound(bench.now, "uid-p");
  bench.state.queue().done("uid-p");
  bench.set(make_pod("p", 0, "1000", "n"));
  EXPECT_FALSE(bench.state.is_assumed("uid-p"));
  EXPECT_EQ(bench.used("n"), 1000);
  EXPECT_EQ(bench.state.deadline(), MonoTime::max());
}

TEST(ClusterState, AForgottenPodGivesItsRoomBack) {
  StateBench bench;
  bench.state.set(bench.now, make_node("n", 1));
  bench.set(make_pod("p", 0, "1000"));
  (void)bench.state.assume(bench.now, bench.pop(), "n");
  bench.set(make_pod("q", 0, "1000"));
  const PodRef full = bench.pop();
  EXPECT_TRUE(bench.state.queue().requeue(bench.now, full, {"NodeResourcesFit"}, {}));
  EXPECT_EQ(bench.places({"q"}), "q:unschedulable ");
  bench.state.forget(bench.now, "uid-p");
  EXPECT_EQ(bench.used("n"), 0);
  EXPECT_EQ(bench.places({"p", "q"}), "p:inFlight q:backoff ");
}

TEST(ClusterState, AnAssumptionThatNobodyConfirmsExpires) {
  StateBench bench;
  bench.state.set(bench.now, make_node("n"));
  bench.set(make_pod("p", 0, "1000"));
  (void)bench.state.assume(bench.now, bench.pop(), "n");
  bench.now += 1h;
  bench.state.tick(bench.now);
  EXPECT_TRUE(bench.state.is_assumed("uid-p")) << "its binding is still under way";
  bench.state.bound(bench.now, "uid-p");
  bench.state.queue().done("uid-p");
  EXPECT_EQ(bench.state.deadline(), bench.now + 15min);
  bench.now += 15min;
  bench.state.tick(bench.now);
  EXPECT_EQ(bench.used("n"), 0);
  EXPECT_EQ(bench.places({"p"}), "p:active ");
}

TEST(ClusterState, APodThatGoesLeavesNothingBehind) {
  StateBench bench;
  bench.state.set(bench.now, make_node("n"));
  Pod waiting = make_pod("w", 5, "100");
  waiting.status.nominated_node_name = "n";
  bench.set(waiting);
  bench.set(make_pod("r", 0, "1000", "n"));
  bench.set(make_pod("a", 9, "500"));
  (void)bench.state.assume(bench.now, bench.pop(), "n");
  EXPECT_EQ(bench.state.nominator().node_of("uid-w"), "n");
  for (const char* name : {"w", "r", "a", "never-heard-of"}) {
    bench.state.remove_pod(bench.now, "default", name);
  }
  EXPECT_EQ(bench.places({"w", "r", "a"}), "w:- r:- a:- ");
  EXPECT_EQ(bench.state.nominator().node_of("uid-w"), "");
  EXPECT_EQ(bench.used("n"), 0);
  EXPECT_EQ(bench.state.assumed(), 0u);
}

TEST(ClusterState, ANewPodUnderAnOldNameIsAnotherOne) {
  StateBench bench;
  bench.state.set(bench.now, make_node("n"));
  bench.set(make_pod("p", 0, "1000", "n"));
  Pod again = make_pod("p", 0, "200");
  again.metadata.uid = "uid-2";
  bench.set(again);
  EXPECT_EQ(bench.used("n"), 0);
  EXPECT_EQ(bench.places({"p", "2"}), "p:- 2:active ");
  EXPECT_EQ(bench.state.live("uid-p"), nullptr);
  EXPECT_EQ(bench.state.live("uid-2")->name(), "p");
}

TEST(ClusterState, APodThatEndsFreesItsRoomAndIsNewsForOthers) {
  StateBench bench;
  bench.state.set(bench.now, make_node("n", 1));
  bench.set(make_pod("r", 0, "1000", "n"));
  bench.set(make_pod("q", 0, "1000"));
  EXPECT_TRUE(bench.state.queue().requeue(bench.now, bench.pop(), {"NodeResourcesFit"}, {}));
  Pod ended = make_pod("r", 0, "1000", "n");
  ended.status.phase = "Succeeded";
  bench.set(ended);
  EXPECT_EQ(bench.used("n"), 0);
  EXPECT_EQ(bench.places({"q"}), "q:backoff ");
}

TEST(ClusterState, WhatARelistRepeatsIsNoNews) {
  StateBench bench;
  Pod pod = make_pod("p", 0, "1000");
  bench.set(pod);
  EXPECT_TRUE(bench.state.queue().requeue(bench.now, bench.pop(), {}, {}));
  EXPECT_EQ(bench.places({"p"}), "p:backoff ");
  const PodRef before = bench.state.live("uid-p");
  pod.metadata.resource_version = std::to_string(bench.version);
  bench.state.set(bench.now, pod);
  EXPECT_EQ(bench.state.live("uid-p"), before);
}

TEST(ClusterState, AGateHoldsAPodBackUntilItsVictimsHaveBeenAsked) {
  StateBench bench;
  bench.state.set(bench.now, make_node("n", 1));
  bench.set(make_pod("v", 0, "1000", "n"));
  bench.set(make_pod("p", 9, "1000"));
  const PodRef pod = bench.pop();
  bench.state.gate("uid-p", true);
  EXPECT_TRUE(bench.state.queue().requeue(bench.now, pod, {"NodeResourcesFit"}, {}));
  bench.state.queue().activate(bench.now, "uid-p");
  EXPECT_EQ(bench.places({"p"}), "p:unschedulable ");
  EXPECT_EQ(bench.state.queue().gated(), 1u);
  bench.state.gate("uid-p", false);
  bench.now += 10s;
  bench.state.remove_pod(bench.now, "default", "v");
  EXPECT_EQ(bench.places({"p"}), "p:active ");
}

TEST(ClusterState, CountsWhatComesIntoTheQueuesAndWhy) {
  StateBench bench;
  bench.set(make_pod("p", 0, "1000"));
  EXPECT_TRUE(bench.state.queue().requeue(bench.now, bench.pop(), {"NodeResourcesFit"}, {}));
  EXPECT_EQ(bench.state.queue().rejected_by(),
            (std::map<std::string, std::size_t>{{"NodeResourcesFit", 1}}));
  bench.state.set(bench.now, make_node("n"));
  bench.now += 1s;
  bench.state.tick(bench.now);
  const Queue::Incoming expected = {{{"active", "BackoffComplete"}, 1},
                                    {{"active", "UnschedulablePodAdd"}, 1},
                                    {{"backoff", "NodeAdd"}, 1},
                                    {{"unschedulable", "ScheduleAttemptFailure"}, 1}};
  EXPECT_EQ(bench.state.queue().incoming(), expected);
}

TEST(ClusterState, BudgetsAndNamespacesComeAndGo) {
  StateBench bench;
  PodDisruptionBudget broken = test::make_budget("b", "app", "a", 0);
  broken.spec.selector->match_expressions = {{"app", "In", {}, {}}};
  bench.state.set(broken);
  EXPECT_EQ(bench.state.budgets().problems().size(), 1u);
  bench.state.remove_budget("default", "b");
  EXPECT_TRUE(bench.state.budgets().problems().empty());
  bench.state.cluster().set_namespace("default", {{"team", "a"}});
  EXPECT_EQ(bench.state.cluster().namespaces().size(), 1u);
  bench.state.cluster().remove_namespace("default");
  EXPECT_TRUE(bench.state.cluster().namespaces().empty());
}

class Extender : public testing::Test {
 protected:
  Extender() {
    for (const char* name : {"n1", "n2", "n3"}) cluster.set_node(make_node(name));
    settings.url = "http://x";
    settings.node_cache_capable = true;
    Finder finder(plugins());
    feasible_nodes = finder.feasible_nodes(cluster, nominator, *view_of(pod, cluster.symbols()));
  }
  std::string feasible() const {
    std::string names;
    for (const NodeView* node : feasible_nodes.feasible) names += node->name() + " ";
    return names;
  }

  Cluster cluster;
  Nominator nominator;
  ExtenderSettings settings;
  Pod pod = make_pod("p", 0, "100");
  FeasibleNodes feasible_nodes;
};

TEST_F(Extender, StrikesNodesOutAndSaysWhy) {
  const auto answer = read_filter_answer(
      settings, R"({"nodenames":["n2"],"FailedNodes":{"n1":"no licence","n3":"soft"},)"
                R"("FailedAndUnresolvableNodes":{"n3":"never"},"Error":""})");
  ASSERT_TRUE(answer);
  ASSERT_TRUE(remove_rejected_nodes(settings, *answer, feasible_nodes));
  EXPECT_EQ(feasible(), "n2 ");
  EXPECT_EQ(feasible_nodes.diagnosis.fit_statuses.at(0), reject(Code::unschedulable, "no licence"));
  EXPECT_EQ(feasible_nodes.diagnosis.fit_statuses.at(2), reject(Code::unresolvable, "never"));
  EXPECT_EQ(feasible_nodes.diagnosis.unschedulable_plugins, (std::set<std::string>{"Extender"}));
}

TEST_F(Extender, AnswersThatAreNoneAreNamed) {
  const struct {
    bool by_name;
    const char* body;
    const char* why;
  } rows[] = {
      {true, "", "extender's answer: JSON at byte 0: incomplete JSON"},
      {true, "[]", "extender's answer: expected an object"},
      {true, R"({"Error":"out of order"})", "out of order"},
      {true, R"({"Error":5})", "extender's answer: Error: expected a string"},
      {true, R"({"NodeNames":{}})", "extender's answer: NodeNames: expected an array"},
      {true, R"({"NodeNames":["a",1]})", "extender's answer: NodeNames[1]: expected a string"},
      {false, R"({"Nodes":[]})", "extender's answer: Nodes: expected an object"},
      {false, R"({"Nodes":{"items":1}})", "extender's answer: Nodes.items: expected an array"},
      {false, R"({"Nodes":{"items":[{}]}})",
       "extender's answer: Nodes.items[0].metadata.name: expected a string"},
      {true, R"({"FailedNodes":[]})", "extender's answer: FailedNodes: expected an object"},
      {true, R"({"FailedNodes":{"a":1}})", "extender's answer: FailedNodes[a]: expected a string"},
  };
  for (const auto& row : rows) {
    settings.node_cache_capable = row.by_name;
    const auto answer = read_filter_answer(settings, row.body);
    ASSERT_FALSE(answer) << row.body;
    EXPECT_EQ(answer.error().what, row.why);
  }
  for (const char* body : {R"({"NodeNames":["n9"]})", R"({"FailedNodes":{"n9":"x"}})"}) {
    settings.node_cache_capable = true;
    const Status struck =
        remove_rejected_nodes(settings, read_filter_answer(settings, body).value(), feasible_nodes);
    ASSERT_FALSE(struck);
    EXPECT_EQ(struck.error().what,
              "extender \"http://x\" claims a filtered node \"n9\" which is not found in the input "
              "node list");
    EXPECT_EQ(feasible(), "n1 n2 n3 ");
  }
}

TEST_F(Extender, AsksByNameOrWithWholeNodes) {
  const std::string by_name = filter_request(settings, pod, feasible_nodes.feasible);
  EXPECT_NE(by_name.find(R"("Nodes":null,"NodeNames":["n1","n2","n3"])"), std::string::npos);
  settings.node_cache_capable = false;
  const std::string whole = filter_request(settings, pod, feasible_nodes.feasible);
  EXPECT_NE(whole.find(R"("Nodes":{"metadata":{},"items":[{"kind":"Node")"), std::string::npos);
  EXPECT_NE(whole.find(R"("NodeNames":null)"), std::string::npos);
  EXPECT_EQ(bind_request(*view_of(pod, cluster.symbols()), "n1"),
            R"({"PodName":"p","PodNamespace":"default","PodUID":"uid-p","Node":"n1"})");
  EXPECT_TRUE(read_bind_answer("{}"));
  EXPECT_EQ(read_bind_answer(R"({"Error":"full"})").error().what, "full");
}

TEST_F(Extender, ScoresAreAddedTenfold) {
  Scores scores;
  const auto answer = read_prioritize_answer(
      R"([{"Host":"n1","Score":10},{"host":"n3","score":1},{"Host":"x","Score":9}])");
  ASSERT_TRUE(answer);
  add_scores(*answer, 2, feasible_nodes.feasible, scores);
  EXPECT_EQ(scores, (Scores{200, 0, 20}));
  Random random(1);
  Finder finder(plugins());
  EXPECT_EQ(
      finder.decide(feasible_nodes, *view_of(pod, cluster.symbols()), scores, random).node->name(),
      "n1");
  for (const char* body :
       {"{}", "[1]", R"([{"Host":"a","Score":11}])", R"([{"Host":"a","Score":-1}])",
        R"([{"Host":"a","Score":"9"}])", R"([{"Score":1}])"}) {
    EXPECT_FALSE(read_prioritize_answer(body)) << body;
  }
}

}  // namespace
}  // namespace holdfast::sync::schedule
