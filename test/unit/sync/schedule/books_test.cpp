// ClusterState after each kind of input; and how the answers of extenders change a survey.

#include "sync/schedule/cluster_state.h"

#include "sync/schedule/extender_filter.h"
#include "test/unit/sync/schedule/world.h"

namespace holdfast::sync::schedule {
namespace {

using namespace std::chrono_literals;
using test::make_node;
using test::make_pod;

constexpr MonoTime start{1h};

struct Desk {
  ClusterState books{{.scheduler = "holdfast-scheduler"}, start};
  MonoTime now = start;

  // Delivers the pod as a watch does, with a new resource version each time.
  void set(Pod pod) {
    pod.metadata.resource_version = std::to_string(++version);
    books.set(now, std::move(pod));
    books.check_invariants();
  }
  // The places of these pods in the queue: "p:active q:inFlight ".
  std::string places(const std::vector<std::string>& names) const {
    std::string text;
    for (const std::string& name : names) {
      const auto place = books.queue().place("uid-" + name);
      text += name + ":" + std::string(place ? to_string(*place) : "-") + " ";
    }
    return text;
  }
  std::int64_t used(const std::string& node) const {
    const NodeView* view = books.cluster().find(node);
    return view == nullptr ? -1 : view->requested.milli_cpu;
  }
  PodRef pop() {
    auto popped = books.queue().pop();
    books.check_invariants();
    return popped ? popped->pod : nullptr;
  }

  int version = 0;
};

TEST(ClusterState, OnlyPodsThatNameTheSchedulerWait) {
  Desk desk;
  Pod other = make_pod("other", 0, "100");
  other.spec.scheduler_name = "somebody-else";
  Pod ended = make_pod("ended", 0, "100");
  ended.status.phase = "Failed";
  desk.set(make_pod("p", 0, "100"));
  desk.set(other);
  desk.set(ended);
  EXPECT_EQ(desk.places({"p", "other", "ended"}), "p:active other:- ended:- ");
  EXPECT_EQ(desk.books.live("uid-other"), nullptr);
}

TEST(ClusterState, AnAssumedPodCountsUntilTheWatchConfirmsIt) {
  Desk desk;
  desk.books.set(desk.now, make_node("n"));
  desk.set(make_pod("p", 0, "1000"));
  const PodRef pod = desk.pop();
  EXPECT_EQ(desk.books.assume(pod, "n")->node(), "n");
  EXPECT_EQ(desk.used("n"), 1000);
  EXPECT_TRUE(desk.books.is_assumed("uid-p"));
  // The watch still delivers the pod as waiting, which is older than the assumption.
  desk.set(make_pod("p", 0, "1000"));
  EXPECT_EQ(desk.used("n"), 1000);
  EXPECT_EQ(desk.places({"p"}), "p:inFlight ");
  desk.books.bound(desk.now, "uid-p");
  desk.books.queue().done("uid-p");
  desk.set(make_pod("p", 0, "1000", "n"));
  EXPECT_FALSE(desk.books.is_assumed("uid-p"));
  EXPECT_EQ(desk.used("n"), 1000);
  EXPECT_EQ(desk.books.deadline(), MonoTime::max());
}

TEST(ClusterState, AForgottenPodGivesItsRoomBack) {
  Desk desk;
  desk.books.set(desk.now, make_node("n", 1));
  desk.set(make_pod("p", 0, "1000"));
  (void)desk.books.assume(desk.pop(), "n");
  desk.set(make_pod("q", 0, "1000"));
  const PodRef full = desk.pop();
  EXPECT_TRUE(desk.books.queue().requeue(desk.now, full, {"NodeResourcesFit"}, {}));
  EXPECT_EQ(desk.places({"q"}), "q:unschedulable ");
  desk.books.forget(desk.now, "uid-p");
  EXPECT_EQ(desk.used("n"), 0);
  EXPECT_EQ(desk.places({"p", "q"}), "p:inFlight q:backoff ");
}

TEST(ClusterState, AnAssumptionThatNobodyConfirmsExpires) {
  Desk desk;
  desk.books.set(desk.now, make_node("n"));
  desk.set(make_pod("p", 0, "1000"));
  (void)desk.books.assume(desk.pop(), "n");
  desk.now += 1h;
  desk.books.tick(desk.now);
  EXPECT_TRUE(desk.books.is_assumed("uid-p")) << "its binding is still under way";
  desk.books.bound(desk.now, "uid-p");
  desk.books.queue().done("uid-p");
  EXPECT_EQ(desk.books.deadline(), desk.now + 15min);
  desk.now += 15min;
  desk.books.tick(desk.now);
  EXPECT_EQ(desk.used("n"), 0);
  EXPECT_EQ(desk.places({"p"}), "p:active ");
}

TEST(ClusterState, APodThatGoesLeavesNothingBehind) {
  Desk desk;
  desk.books.set(desk.now, make_node("n"));
  Pod waiting = make_pod("w", 5, "100");
  waiting.status.nominated_node_name = "n";
  desk.set(waiting);
  desk.set(make_pod("r", 0, "1000", "n"));
  desk.set(make_pod("a", 9, "500"));
  (void)desk.books.assume(desk.pop(), "n");
  EXPECT_EQ(desk.books.nominator().node_of("uid-w"), "n");
  for (const char* name : {"w", "r", "a", "never-heard-of"}) {
    desk.books.remove_pod(desk.now, "default", name);
  }
  EXPECT_EQ(desk.places({"w", "r", "a"}), "w:- r:- a:- ");
  EXPECT_EQ(desk.books.nominator().node_of("uid-w"), "");
  EXPECT_EQ(desk.used("n"), 0);
  EXPECT_EQ(desk.books.assumed(), 0u);
}

TEST(ClusterState, ANewPodUnderAnOldNameIsAnotherOne) {
  Desk desk;
  desk.books.set(desk.now, make_node("n"));
  desk.set(make_pod("p", 0, "1000", "n"));
  Pod again = make_pod("p", 0, "200");
  again.metadata.uid = "uid-2";
  desk.set(again);
  EXPECT_EQ(desk.used("n"), 0);
  EXPECT_EQ(desk.places({"p", "2"}), "p:- 2:active ");
  EXPECT_EQ(desk.books.live("uid-p"), nullptr);
  EXPECT_EQ(desk.books.live("uid-2")->name(), "p");
}

TEST(ClusterState, APodThatEndsFreesItsRoomAndIsNewsForOthers) {
  Desk desk;
  desk.books.set(desk.now, make_node("n", 1));
  desk.set(make_pod("r", 0, "1000", "n"));
  desk.set(make_pod("q", 0, "1000"));
  EXPECT_TRUE(desk.books.queue().requeue(desk.now, desk.pop(), {"NodeResourcesFit"}, {}));
  Pod ended = make_pod("r", 0, "1000", "n");
  ended.status.phase = "Succeeded";
  desk.set(ended);
  EXPECT_EQ(desk.used("n"), 0);
  EXPECT_EQ(desk.places({"q"}), "q:backoff ");
}

TEST(ClusterState, WhatARelistRepeatsIsNoNews) {
  Desk desk;
  Pod pod = make_pod("p", 0, "1000");
  desk.set(pod);
  EXPECT_TRUE(desk.books.queue().requeue(desk.now, desk.pop(), {}, {}));
  EXPECT_EQ(desk.places({"p"}), "p:backoff ");
  const PodRef before = desk.books.live("uid-p");
  pod.metadata.resource_version = std::to_string(desk.version);
  desk.books.set(desk.now, pod);
  EXPECT_EQ(desk.books.live("uid-p"), before);
}

TEST(ClusterState, AGateHoldsAPodBackUntilItsVictimsHaveBeenAsked) {
  Desk desk;
  desk.books.set(desk.now, make_node("n", 1));
  desk.set(make_pod("v", 0, "1000", "n"));
  desk.set(make_pod("p", 9, "1000"));
  const PodRef pod = desk.pop();
  desk.books.gate("uid-p", true);
  EXPECT_TRUE(desk.books.queue().requeue(desk.now, pod, {"NodeResourcesFit"}, {}));
  desk.books.queue().activate(desk.now, "uid-p");
  EXPECT_EQ(desk.places({"p"}), "p:unschedulable ");
  EXPECT_EQ(desk.books.queue().gated(), 1u);
  desk.books.gate("uid-p", false);
  desk.now += 10s;
  desk.books.remove_pod(desk.now, "default", "v");
  EXPECT_EQ(desk.places({"p"}), "p:active ");
}

TEST(ClusterState, CountsWhatComesIntoTheQueuesAndWhy) {
  Desk desk;
  desk.set(make_pod("p", 0, "1000"));
  EXPECT_TRUE(desk.books.queue().requeue(desk.now, desk.pop(), {"NodeResourcesFit"}, {}));
  EXPECT_EQ(desk.books.queue().rejected_by(),
            (std::map<std::string, std::size_t>{{"NodeResourcesFit", 1}}));
  desk.books.set(desk.now, make_node("n"));
  desk.now += 1s;
  desk.books.tick(desk.now);
  const Queue::Incoming expected = {{{"active", "BackoffComplete"}, 1},
                                    {{"active", "UnschedulablePodAdd"}, 1},
                                    {{"backoff", "NodeAdd"}, 1},
                                    {{"unschedulable", "ScheduleAttemptFailure"}, 1}};
  EXPECT_EQ(desk.books.queue().incoming(), expected);
}

TEST(ClusterState, BudgetsAndNamespacesComeAndGo) {
  Desk desk;
  PodDisruptionBudget broken = test::make_budget("b", "app", "a", 0);
  broken.spec.selector->match_expressions = {{"app", "In", {}, {}}};
  desk.books.set(broken);
  EXPECT_EQ(desk.books.budgets().problems().size(), 1u);
  desk.books.remove_budget("default", "b");
  EXPECT_TRUE(desk.books.budgets().problems().empty());
  desk.books.cluster().set_namespace("default", {{"team", "a"}});
  EXPECT_EQ(desk.books.cluster().namespaces().size(), 1u);
  desk.books.cluster().remove_namespace("default");
  EXPECT_TRUE(desk.books.cluster().namespaces().empty());
}

class Extender : public testing::Test {
 protected:
  Extender() {
    for (const char* name : {"n1", "n2", "n3"}) cluster.set_node(make_node(name));
    settings.url = "http://x";
    settings.node_cache_capable = true;
    Finder finder(plugins());
    survey = finder.survey(cluster, nominator, *view_of(pod, cluster.symbols()));
  }
  std::string feasible() const {
    std::string names;
    for (const NodeView* node : survey.feasible) names += node->name() + " ";
    return names;
  }

  Cluster cluster;
  Nominator nominator;
  ExtenderSettings settings;
  Pod pod = make_pod("p", 0, "100");
  Survey survey;
};

TEST_F(Extender, StrikesNodesOutAndSaysWhy) {
  const auto answer = read_filter_answer(
      settings, R"({"nodenames":["n2"],"FailedNodes":{"n1":"no licence","n3":"soft"},)"
                R"("FailedAndUnresolvableNodes":{"n3":"never"},"Error":""})");
  ASSERT_TRUE(answer);
  ASSERT_TRUE(strike_out(settings, *answer, survey));
  EXPECT_EQ(feasible(), "n2 ");
  EXPECT_EQ(survey.diagnosis.verdicts.at(0), reject(Code::unschedulable, "no licence"));
  EXPECT_EQ(survey.diagnosis.verdicts.at(2), reject(Code::unresolvable, "never"));
  EXPECT_EQ(survey.diagnosis.unschedulable_plugins, (std::set<std::string>{"Extender"}));
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
    const Status struck = strike_out(settings, read_filter_answer(settings, body).value(), survey);
    ASSERT_FALSE(struck);
    EXPECT_EQ(struck.error().what,
              "extender \"http://x\" claims a filtered node \"n9\" which is not found in the input "
              "node list");
    EXPECT_EQ(feasible(), "n1 n2 n3 ");
  }
}

TEST_F(Extender, AsksByNameOrWithWholeNodes) {
  const std::string by_name = filter_request(settings, pod, survey.feasible);
  EXPECT_NE(by_name.find(R"("Nodes":null,"NodeNames":["n1","n2","n3"])"), std::string::npos);
  settings.node_cache_capable = false;
  const std::string whole = filter_request(settings, pod, survey.feasible);
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
  add_scores(*answer, 2, survey.feasible, scores);
  EXPECT_EQ(scores, (Scores{200, 0, 20}));
  Random random(1);
  Finder finder(plugins());
  EXPECT_EQ(finder.decide(survey, *view_of(pod, cluster.symbols()), scores, random).node->name(),
            "n1");
  for (const char* body :
       {"{}", "[1]", R"([{"Host":"a","Score":11}])", R"([{"Host":"a","Score":-1}])",
        R"([{"Host":"a","Score":"9"}])", R"([{"Score":1}])"}) {
    EXPECT_FALSE(read_prioritize_answer(body)) << body;
  }
}

}  // namespace
}  // namespace holdfast::sync::schedule
