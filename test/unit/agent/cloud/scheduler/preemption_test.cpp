// Preemption and scheduler extenders, with holdfast-cloud against the lab's API server.

#include <fstream>

#include "test/support/scratch_dir.h"
#include "test/unit/agent/cloud/scheduler/scheduler_fixture.h"

namespace holdfast::agent {
namespace {

const std::string high = R"("priorityClassName":"high")";

TEST(Preempting, TheRightVictimsGoAndTheProtectedOneStays) {
  SchedulerFixture fixture;
  fixture.add_node("a", "3");
  fixture.start();
  fixture.add_budget("keep", R"({"matchLabels":{"app":"guarded"}})", 0);
  fixture.add_pod("guarded", "1", "", R"("app":"guarded")");
  fixture.add_pod("middle", "1", R"("priorityClassName":"middle")");
  fixture.add_pod("low", "1");
  ASSERT_TRUE(fixture.until([&] {
    return fixture.is_bound("guarded") && fixture.is_bound("middle") && fixture.is_bound("low");
  }));
  for (const char* name : {"guarded", "middle", "low"}) fixture.run_pod(name);

  fixture.add_pod("vip", "2", high);
  ASSERT_TRUE(fixture.until([&] { return fixture.cluster.is_terminating("middle"); }));
  fixture.cluster.time.run(1s);
  EXPECT_TRUE(fixture.cluster.is_terminating("low"));
  EXPECT_FALSE(fixture.cluster.is_terminating("guarded"));
  EXPECT_EQ(fixture.pod("vip").status.nominated_node_name, "a");
  EXPECT_EQ(fixture.condition("vip", "PodScheduled"),
            "False Unschedulable: 0/1 nodes are available: 1 Insufficient cpu.");
  const std::string told =
      "True PreemptionByScheduler: holdfast-scheduler: preempting to accommodate a higher "
      "priority pod";
  EXPECT_EQ(fixture.condition("low", "DisruptionTarget"), told);
  EXPECT_EQ(fixture.condition("middle", "DisruptionTarget"), told);
  EXPECT_EQ(fixture.condition("guarded", "DisruptionTarget"), "");
  const std::string uid = fixture.pod("vip").metadata.uid;
  EXPECT_NE(fixture.events("low").find("Normal Preempted Preempting: Preempted by pod " + uid +
                                       " on node a\n"),
            std::string::npos)
      << fixture.events("low");

  // The victims end one after another. The attempt in between fails, because one is still there.
  fixture.finish_deleted();
  ASSERT_TRUE(fixture.until([&] { return fixture.is_bound("vip"); }));
  EXPECT_EQ(fixture.node_of("vip"), "a");
  fixture.cluster.time.run(1s);
  EXPECT_EQ(fixture.asked("DELETE"), 2u);
  for (const char* line :
       {"scheduler_preemption_attempts_total 2", "scheduler_preemption_victims_sum 2",
        "scheduler_preemption_goroutines_execution_total{result=\"success\"} 1",
        "scheduler_pod_scheduling_sli_duration_seconds_count{attempts=\"3\"} 1"}) {
    EXPECT_TRUE(fixture.has_metric(line)) << line;
  }
}

// A scheduler without the rights that a preemption needs, or whose watch still shows victims that
// are gone, tries again after the pod's back-off.
TEST(Preempting, ARefusedWriteIsNotAFlood) {
  const std::string low = "/api/v1/namespaces/default/pods/low";
  const std::pair<std::string, int> rows[] = {{"DELETE " + low, 403},
                                              {"DELETE " + low, 404},
                                              {"DELETE " + low, 409},
                                              {"PATCH " + low + "/status", 403},
                                              {"PATCH " + low + "/status", 404},
                                              {"PATCH " + low + "/status", 409}};
  for (const auto& [forbidden, status] : rows) {
    SCOPED_TRACE(forbidden + " " + std::to_string(status));
    SchedulerFixture fixture;
    fixture.add_node("a", "1");
    fixture.start();
    fixture.add_pod("low", "1");
    ASSERT_TRUE(fixture.until([&] { return fixture.is_bound("low"); }));
    fixture.run_pod("low");
    fixture.cluster.proxy.refuse(forbidden, status);
    fixture.add_pod("vip", "1", high);
    fixture.cluster.time.run(30s);
    EXPECT_GE(fixture.asked(forbidden), 2U);
    EXPECT_LE(fixture.asked(forbidden), 8U) << "after 1, 2, 4, 8, 10 s";
    fixture.cluster.proxy.refuse("");
    ASSERT_TRUE(fixture.until([&] { return fixture.cluster.is_terminating("low"); }));
    fixture.finish_deleted();
    EXPECT_TRUE(fixture.until([&] { return fixture.is_bound("vip"); }));
  }
}

// Its victim is on a node that has lost its contact, and never ends.
TEST(Preempting, ANominatedNodeThatIsLostIsGivenUp) {
  SchedulerFixture fixture;
  fixture.add_node("a", "2");
  fixture.start();
  fixture.add_pod("low-a", "2");
  ASSERT_TRUE(fixture.until([&] { return fixture.is_bound("low-a"); }));
  fixture.run_pod("low-a");
  fixture.add_pod("vip", "2", high);
  ASSERT_TRUE(fixture.until([&] { return fixture.pod("vip").status.nominated_node_name == "a"; }));
  // Another node, whose pod could go, too.
  fixture.add_node("b", "2");
  fixture.add_pod("low-b", "2", R"("nodeName":"b","priority":0)");
  fixture.run_pod("low-b");
  fixture.cluster.time.run(10s);
  EXPECT_FALSE(fixture.cluster.is_terminating("low-b"));
  (void)fixture.cluster.ask(
      http::Method::patch, "/api/v1/nodes/a",
      R"({"spec":{"taints":[{"key":"node.kubernetes.io/unreachable","effect":"NoSchedule"}]}})",
      fixture.merge);
  ASSERT_TRUE(fixture.cluster.time.run_until(
      10s, [&] { return fixture.pod("vip").status.nominated_node_name == "b"; }));
  (void)fixture.cluster.ask(http::Method::remove, fixture.pods + "/low-b?gracePeriodSeconds=0");
  EXPECT_TRUE(fixture.until([&] { return fixture.node_of("vip") == "b"; }));
}

TEST(Preempting, AMoreImportantPodTakesThePromiseAway) {
  SchedulerFixture fixture;
  fixture.add_node("a", "2");
  fixture.start();
  fixture.add_pod("low", "2");
  ASSERT_TRUE(fixture.until([&] { return fixture.is_bound("low"); }));
  fixture.run_pod("low");
  fixture.add_pod("middle", "2", R"("priorityClassName":"middle")");
  ASSERT_TRUE(
      fixture.until([&] { return fixture.pod("middle").status.nominated_node_name == "a"; }));
  fixture.add_pod("vip", "2", high);
  fixture.cluster.time.run(2s);
  fixture.finish_deleted();
  ASSERT_TRUE(fixture.until([&] { return fixture.is_bound("vip"); }));
  fixture.cluster.time.run(5s);
  EXPECT_FALSE(fixture.is_bound("middle"));
  EXPECT_EQ(fixture.pod("middle").status.nominated_node_name, "");
}

TEST(Preempting, WhoMayNotPreemptSaysSo) {
  SchedulerFixture fixture;
  fixture.add_node("a", "1");
  fixture.cluster.ask(http::Method::post, "/apis/scheduling.k8s.io/v1/priorityclasses",
                      R"({"kind":"PriorityClass","apiVersion":"scheduling.k8s.io/v1","metadata":)"
                      R"({"name":"polite"},"value":900,"preemptionPolicy":"Never"})");
  fixture.start();
  fixture.add_pod("low", "1");
  ASSERT_TRUE(fixture.until([&] { return fixture.is_bound("low"); }));
  fixture.add_pod("p", "1", R"("priorityClassName":"polite")");
  ASSERT_TRUE(fixture.until([&] { return !fixture.condition("p", "PodScheduled").empty(); }));
  EXPECT_EQ(fixture.condition("p", "PodScheduled"),
            "False Unschedulable: 0/1 nodes are available: 1 Insufficient cpu. preemption: not "
            "eligible due to preemptionPolicy=Never.");
  EXPECT_FALSE(fixture.cluster.is_terminating("low"));
}

TEST(Preempting, ABudgetThatCannotBeReadProtectsNobodyAndIsToldOf) {
  SchedulerFixture fixture;
  fixture.add_node("a", "1");
  fixture.cluster.proxy.spoil = {"spoil-me", "no good!"};
  fixture.start();
  fixture.add_budget(
      "broken", R"({"matchExpressions":[{"key":"app","operator":"In","values":["spoil-me"]}]})", 0);
  fixture.add_pod("low", "1", "", R"("app":"x")");
  ASSERT_TRUE(fixture.until([&] { return fixture.is_bound("low"); }));
  fixture.add_pod("vip", "1", high);
  ASSERT_TRUE(fixture.until([&] { return fixture.cluster.is_terminating("low"); }));
  fixture.cluster.time.run(1s);
  EXPECT_NE(fixture.events("vip").find("Warning InvalidDisruptionBudget Preempting: "
                                       "PodDisruptionBudget default/broken: spec.selector: "),
            std::string::npos)
      << fixture.events("vip");
}

// With so many nodes the dry run is divided among threads, if the machine has several processors.
TEST(Preempting, TheCheapestVictimOfManyNodesIsFound) {
  SchedulerFixture fixture;
  for (int i = 0; i < 260; ++i) {
    const std::string name = "n" + std::to_string(i);
    fixture.cluster.ask(
        http::Method::post, "/api/v1/nodes",
        R"({"kind":"Node","apiVersion":"v1","metadata":{"name":")" + name +
            R"("},"status":{"allocatable":{"cpu":"1","memory":"8Gi","pods":"9"}}})");
    const std::string middle = i == 77 ? "" : R"("priorityClassName":"middle",)";
    fixture.add_pod("p" + std::to_string(i), "1", middle + R"("nodeName":")" + name + "\"");
  }
  const test::ScratchDir scratch;
  const auto file = scratch.path() / "scheduler.yaml";
  std::ofstream(file) << "apiVersion: kubescheduler.config.k8s.io/v1\n"
                      << "kind: KubeSchedulerConfiguration\nprofiles:\n"
                      << "  - pluginConfig:\n      - name: DefaultPreemption\n"
                      << "        args: {minCandidateNodesAbsolute: 1000}\n";
  CloudSettings settings = fixture.settings();
  settings.scheduler.config = file.string();
  fixture.start(settings);
  fixture.add_pod("vip", "1",
                  R"("priorityClassName":"high","tolerations":[{"operator":"Exists"}])");
  ASSERT_TRUE(fixture.until([&] { return fixture.cluster.is_terminating("p77"); }));
  fixture.cluster.time.run(1s);
  EXPECT_EQ(fixture.asked("DELETE"), 1u);
  EXPECT_EQ(fixture.pod("vip").status.nominated_node_name, "n77");
}

// A scheduler with one extender whose answers the test scripts.
class Extending : public testing::Test {
 protected:
  void start(const std::string& more, bool ignorable = false) {
    const auto file = scratch.path() / "scheduler.yaml";
    std::ofstream(file) << "apiVersion: kubescheduler.config.k8s.io/v1\n"
                        << "kind: KubeSchedulerConfiguration\n"
                        << "extenders:\n  - urlPrefix: " << extender.url() << "\n"
                        << "    nodeCacheCapable: true\n    httpTimeout: 2s\n"
                        << "    ignorable: " << (ignorable ? "true" : "false") << "\n"
                        << more;
    CloudSettings settings = fixture.settings();
    settings.scheduler.config = file.string();
    fixture.start(settings);
  }
  std::string why(const std::string& pod) {
    EXPECT_TRUE(fixture.until([&] { return !fixture.condition(pod, "PodScheduled").empty(); }));
    return fixture.condition(pod, "PodScheduled");
  }

  SchedulerFixture fixture;
  test::ScratchDir scratch;
  FakeExtender extender{fixture.cluster.time};
};

TEST_F(Extending, FiltersScoresAndBinds) {
  for (const char* name : {"a", "b", "c"}) fixture.add_node(name);
  start("    filterVerb: filter\n    prioritizeVerb: rank\n    weight: 100\n    bindVerb: bind\n");
  extender.answers["filter"] = R"({"NodeNames":["a","b"],"FailedNodes":{"c":"no"}})";
  extender.answers["rank"] = R"([{"Host":"a","Score":1},{"Host":"b","Score":9}])";
  extender.answers["bind"] = "{}";
  fixture.add_pod("p", "1");
  ASSERT_TRUE(fixture.until([&] { return extender.asked.size() == 3; }));
  fixture.cluster.time.run(1s);
  EXPECT_EQ(extender.asked, (std::vector<std::string>{"filter", "rank", "bind"}));
  EXPECT_EQ(fixture.events("p"),
            "Normal Scheduled Binding: Successfully assigned default/p to b\n");
  EXPECT_EQ(fixture.asked("POST " + SchedulerFixture::pods), 0u) << "it is the extender that binds";
}

TEST_F(Extending, WhatItStrikesOutIsSaidOnThePod) {
  fixture.add_node("a");
  fixture.add_node("b");
  start("    filterVerb: filter\n");
  extender.answers["filter"] =
      R"({"FailedNodes":{"a":"no licence"},"FailedAndUnresolvableNodes":{"b":"too old"}})";
  fixture.add_pod("p", "1");
  EXPECT_EQ(why("p"),
            "False Unschedulable: 0/2 nodes are available: 1 no licence, 1 too old. preemption: "
            "0/2 nodes are available: 1 No preemption victims found for incoming pod, 1 Preemption "
            "is not helpful for scheduling.");
}

TEST_F(Extending, FaultsAreErrorsOfThePodAndTheQueueGoesOn) {
  fixture.add_node("a");
  start("    filterVerb: filter\n    managedResources: [{name: example.com/gpu}]\n");
  fixture.cluster.ask(http::Method::patch, "/api/v1/nodes/a/status",
                      R"({"status":{"allocatable":{"example.com/gpu":"9"}}})",
                      SchedulerFixture::merge);
  const std::string url = extender.url();
  const struct {
    const char* answer;
    std::string why;
  } rows[] = {
      {"hang", "Post \"" + url + "/filter\": "},
      {"<html>", "extender's answer: JSON at byte 0: syntax error"},
      {R"({"Error":"on fire"})", "on fire"},
      {R"({"NodeNames":["z"]})", "extender \"" + url +
                                     "\" claims a filtered node \"z\" which is not found in the "
                                     "input node list"},
  };
  int number = 0;
  for (const auto& row : rows) {
    extender.answers["filter"] = row.answer;
    const std::string name = "p" + std::to_string(++number);
    fixture.cluster.ask(
        http::Method::post, SchedulerFixture::pods,
        R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":")" + name +
            R"("},"spec":{"schedulerName":"holdfast-scheduler","containers":[{"name":"c","image":)"
            R"("i","resources":{"limits":{"example.com/gpu":"1"},"requests":{"example.com/gpu":)"
            R"("1"}}}]}})");
    fixture.add_pod("ordinary" + name, "100m");
    const std::string expected = "False SchedulerError: " + row.why;
    EXPECT_EQ(why(name).substr(0, expected.size()), expected);
    EXPECT_TRUE(fixture.until([&] { return fixture.is_bound("ordinary" + name); }));
    // Once the extender answers correctly, the pod is bound.
    extender.answers["filter"] = R"({"NodeNames":["a"]})";
    EXPECT_TRUE(fixture.until([&] { return fixture.is_bound(name); })) << row.answer;
  }
}

// Also one that is not ignorable.
TEST_F(Extending, OneThatScoresIsIgnoredIfItFails) {
  fixture.add_node("a");
  fixture.add_node("b");
  start("    filterVerb: filter\n    prioritizeVerb: rank\n    weight: 100\n");
  extender.answers["filter"] = R"({"NodeNames":["a","b"]})";
  int number = 0;
  for (const char* answer :
       {"hang", "<html>", R"({"Error":"on fire"})", R"([{"Host":"a","Score":11}])", "404"}) {
    extender.answers["rank"] = answer;
    if (answer == std::string("404")) extender.answers.erase("rank");
    extender.asked.clear();
    const std::string name = "p" + std::to_string(++number);
    fixture.add_pod(name, "100m");
    ASSERT_TRUE(fixture.until([&] { return fixture.is_bound(name); })) << answer;
    fixture.cluster.time.run(1s);
    EXPECT_EQ(extender.asked, (std::vector<std::string>{"filter", "rank"})) << answer;
    EXPECT_EQ(fixture.events(name), "Normal Scheduled Binding: Successfully assigned default/" +
                                        name + " to " + fixture.node_of(name) + "\n");
  }
}

TEST_F(Extending, ABindingInWhichItFailsIsTriedAgain) {
  fixture.add_node("a", "1");
  start("    bindVerb: bind\n");
  const std::string url = extender.url();
  const std::pair<const char*, std::string> rows[] = {
      {"hang", "Post \"" + url + "/bind\": read: deadline passed"},
      {"<html>", "extender's answer: JSON at byte 0: syntax error"},
      {R"({"Error":"full"})", "full"},
      {"404", "failed bind with extender at URL " + url + "/bind, code 404"}};
  int number = 0;
  for (const auto& [answer, error] : rows) {
    SCOPED_TRACE(answer);
    extender.answers["bind"] = answer;
    if (answer == std::string("404")) extender.answers.erase("bind");
    extender.asked.clear();
    const std::string name = "p" + std::to_string(++number);
    fixture.add_pod(name, "1");
    EXPECT_EQ(why(name), "False SchedulerError: " + error);
    EXPECT_EQ(fixture.cluster_state().assumed(), 0U);
    EXPECT_EQ(fixture.cluster_state().cluster().find("a")->requested.milli_cpu, 0);
    extender.answers["bind"] = "{}";
    ASSERT_TRUE(fixture.until([&] { return extender.asked.size() == 2; }));
    fixture.cluster.time.run(1s);
    EXPECT_EQ(extender.asked, (std::vector<std::string>{"bind", "bind"}));
    EXPECT_EQ(fixture.cluster_state().cluster().find("a")->requested.milli_cpu, 1000);
    EXPECT_EQ(fixture.events(name), "Warning FailedScheduling Scheduling: " + error +
                                        "\nNormal Scheduled Binding: Successfully assigned "
                                        "default/" +
                                        name + " to a\n");
    EXPECT_EQ(fixture.asked("GET " + SchedulerFixture::pods), 0U) << "the extender binds it";
    fixture.cluster.ask(http::Method::remove, SchedulerFixture::pods + "/" + name);
    fixture.cluster.time.run(1s);
  }
}

// An attempt sees the cluster as it was when the attempt began.
TEST_F(Extending, ChangesWaitUntilTheAttemptHasEnded) {
  fixture.add_node("a");
  start("    filterVerb: filter\n");
  extender.answers["filter"] = "hang";
  fixture.add_pod("p", "1");
  ASSERT_TRUE(fixture.until([&] { return !extender.asked.empty(); }));
  fixture.add_node("b");
  fixture.cluster.time.run(1s);
  ASSERT_EQ(extender.asked.size(), 1U);
  EXPECT_EQ(fixture.cluster_state().cluster().find("b"), nullptr);
  extender.answers["filter"] = R"({"NodeNames":["b"]})";
  fixture.cluster.time.run(2s);  // the extender's time is over
  EXPECT_NE(fixture.cluster_state().cluster().find("b"), nullptr);
  ASSERT_TRUE(fixture.until([&] { return fixture.is_bound("p"); }));
  EXPECT_EQ(fixture.node_of("p"), "b");
}

TEST_F(Extending, AnIgnorableOneIsIgnored) {
  fixture.add_node("a");
  start("    filterVerb: filter\n    preemptVerb: preempt\n    bindVerb: bind\n", true);
  fixture.add_pod("p", "1");
  EXPECT_TRUE(fixture.until([&] { return fixture.is_bound("p"); })) << "it answers 404";
  EXPECT_EQ(extender.asked, (std::vector<std::string>{"filter", "bind"}));
  extender.answers["filter"] = "garbage";
  fixture.add_pod("q", "1");
  EXPECT_TRUE(fixture.until([&] { return fixture.is_bound("q"); }));
}

TEST_F(Extending, MayChooseOtherVictims) {
  fixture.add_node("a", "1");
  fixture.add_node("b", "1");
  start("    preemptVerb: preempt\n");
  fixture.add_pod("low", "1");
  fixture.add_pod("middle", "1", R"("priorityClassName":"middle")");
  ASSERT_TRUE(fixture.until([&] { return fixture.is_bound("low") && fixture.is_bound("middle"); }));
  extender.answers["preempt"] = R"({"NodeNameToMetaVictims":{")" + fixture.node_of("middle") +
                                R"(":{"Pods":[{"UID":")" + fixture.pod("middle").metadata.uid +
                                R"("}]}}})";
  fixture.add_pod("vip", "1", high);
  ASSERT_TRUE(fixture.until([&] { return fixture.cluster.is_terminating("middle"); }));
  EXPECT_FALSE(fixture.cluster.is_terminating("low"));
  extender.answers["preempt"] = R"({"NodeNameToMetaVictims":{"z":{"Pods":[{"UID":"x"}]}}})";
  fixture.add_pod("other", "1", high);
  EXPECT_EQ(why("other"),
            "False Unschedulable: 0/2 nodes are available: 2 Insufficient cpu. preemption: "
            "nodeinfo not found for node name \"z\"");
  EXPECT_FALSE(fixture.cluster.is_terminating("low"));
}

}  // namespace
}  // namespace holdfast::agent
