// The scheduler of holdfast-cloud against the lab's API server: it binds pods, reports on the pod
// why it cannot be bound, and loses no pod when requests fail.

#include "test/unit/agent/cloud/scheduler/scheduler_fixture.h"

namespace holdfast::agent {
namespace {

TEST(Scheduling, PodsAreBoundAndToldOf) {
  SchedulerFixture fixture;
  fixture.add_node("a");
  fixture.add_node("b");
  fixture.start();
  for (const char* name : {"p", "q"}) fixture.add_pod(name, "3");
  ASSERT_TRUE(fixture.until([&] { return fixture.is_bound("p") && fixture.is_bound("q"); }));
  EXPECT_NE(fixture.node_of("p"), fixture.node_of("q")) << "an assumed pod takes room";
  fixture.cluster.time.run(1s);
  EXPECT_EQ(fixture.condition("p", "PodScheduled"), "True");
  EXPECT_EQ(fixture.events("p"), "Normal Scheduled Binding: Successfully assigned default/p to " +
                                     fixture.node_of("p") + "\n");
  EXPECT_EQ(fixture.cluster_state().assumed(), 0u) << "the watch has confirmed both";
  EXPECT_EQ(fixture.asked("PATCH"), 0u);
  for (const char* line :
       {"scheduler_schedule_attempts_total{profile=\"holdfast-scheduler\",result=\"scheduled\"} 2",
        "scheduler_scheduling_attempt_duration_seconds_count{profile=\"holdfast-scheduler\","
        "result=\"scheduled\"} 2",
        "scheduler_pod_scheduling_sli_duration_seconds_count{attempts=\"1\"} 2",
        "scheduler_pod_scheduling_attempts_count 2",
        "scheduler_scheduling_algorithm_duration_seconds_count 2",
        "scheduler_queue_incoming_pods_total{event=\"UnschedulablePodAdd\",queue=\"active\"} 2",
        "scheduler_pending_pods{queue=\"active\"} 0", "scheduler_preemption_attempts_total 0",
        "scheduler_cache_size{type=\"nodes\"} 2", "scheduler_cache_size{type=\"pods\"} 2",
        "scheduler_cache_size{type=\"assumed_pods\"} 0", "holdfast_cloud_started 1"}) {
    EXPECT_TRUE(fixture.has_metric(line)) << line;
  }
}

TEST(Scheduling, OnlyTheSchedulersOwnPodsArePlaced) {
  SchedulerFixture fixture;
  fixture.add_node("a");
  CloudSettings settings = fixture.settings();
  settings.scheduler.name = "mine";
  fixture.start(settings);
  fixture.add_pod("other", "1");
  fixture.add_pod("own", "1");
  fixture.cluster.ask(http::Method::post, SchedulerFixture::pods,
                      R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p"},"spec":{)"
                      R"("schedulerName":"mine","containers":[{"name":"c","image":"i"}]}})");
  ASSERT_TRUE(fixture.until([&] { return fixture.is_bound("p"); }));
  fixture.cluster.time.run(10s);
  EXPECT_FALSE(fixture.is_bound("own"));
  EXPECT_EQ(fixture.asked("PUT") + fixture.asked("DELETE") + fixture.asked("PATCH"), 0u)
      << "and nothing else is done: there is no lifecycle here";
}

TEST(Scheduling, APodThatFitsNowhereSaysWhyAndGoesWhenItMay) {
  SchedulerFixture fixture;
  fixture.add_node("a", "1");
  fixture.start();
  fixture.add_pod("p", "2");
  const std::string why =
      "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 "
      "Preemption is not helpful for scheduling.";
  ASSERT_TRUE(fixture.until([&] { return !fixture.condition("p", "PodScheduled").empty(); }));
  EXPECT_EQ(fixture.condition("p", "PodScheduled"), "False Unschedulable: " + why);
  fixture.cluster.time.run(1s);
  EXPECT_EQ(fixture.events("p"), "Warning FailedScheduling Scheduling: " + why + "\n");
  EXPECT_TRUE(fixture.has_metric("scheduler_pending_pods{queue=\"unschedulable\"} 1"));
  EXPECT_TRUE(fixture.has_metric(
      "scheduler_unschedulable_pods{plugin=\"NodeResourcesFit\",profile=\"holdfast-scheduler\"} "
      "1"));
  const std::size_t quiet = fixture.cluster.proxy.asked.size();
  fixture.cluster.time.run(30s);
  const std::vector<std::string> later(
      fixture.cluster.proxy.asked.begin() + static_cast<std::ptrdiff_t>(quiet),
      fixture.cluster.proxy.asked.end());
  const std::vector<std::string> probes(2, "GET /api/v1/namespaces");
  EXPECT_EQ(later, probes) << "nothing has happened";
  fixture.add_node("b", "4");
  ASSERT_TRUE(fixture.until([&] { return fixture.is_bound("p"); }));
  EXPECT_EQ(fixture.node_of("p"), "b");
  EXPECT_EQ(fixture.condition("p", "PodScheduled"), "True");
}

// Otherwise an old "does not fit" could arrive after the binding.
TEST(Scheduling, ABindingWaitsForTheStatusThatIsUnderWay) {
  SchedulerFixture fixture;
  fixture.add_node("a", "1");
  const std::string path = SchedulerFixture::pods + "/p";
  fixture.cluster.proxy.refuse("PATCH " + path + "/status", 0);
  fixture.start();
  fixture.add_pod("p", "2");
  ASSERT_TRUE(fixture.until([&] { return fixture.asked("PATCH " + path + "/status") == 1; }));
  fixture.add_node("b", "4");
  ASSERT_TRUE(fixture.until([&] { return fixture.cluster_state().assumed() == 1; }));
  fixture.cluster.time.run(1s);
  EXPECT_EQ(fixture.cluster_state().assumed(), 1U);
  EXPECT_EQ(fixture.asked("POST " + path + "/binding"), 0U);
  fixture.cluster.proxy.refuse("");
  ASSERT_TRUE(fixture.until([&] { return fixture.is_bound("p"); }));
  EXPECT_EQ(fixture.node_of("p"), "b");
  EXPECT_EQ(fixture.condition("p", "PodScheduled"), "True");
}

TEST(Scheduling, WithoutNodesItSaysSo) {
  SchedulerFixture fixture;
  fixture.start();
  fixture.add_pod("p", "1");
  ASSERT_TRUE(fixture.until([&] { return !fixture.condition("p", "PodScheduled").empty(); }));
  EXPECT_EQ(fixture.condition("p", "PodScheduled"),
            "False Unschedulable: no nodes available to schedule pods");
}

TEST(Scheduling, GatedPodsWaitWithoutBeingTried) {
  SchedulerFixture fixture;
  fixture.add_node("a");
  fixture.start();
  fixture.add_pod("p", "1", R"("schedulingGates":[{"name":"example.com/g"}])");
  fixture.cluster.time.run(5s);
  EXPECT_FALSE(fixture.is_bound("p"));
  EXPECT_TRUE(fixture.has_metric("scheduler_pending_pods{queue=\"gated\"} 1"));
  fixture.cluster.ask(http::Method::patch, SchedulerFixture::pods + "/p",
                      R"({"spec":{"schedulingGates":null}})", SchedulerFixture::merge);
  EXPECT_TRUE(fixture.until([&] { return fixture.is_bound("p"); }));
}

TEST(Scheduling, BadInputIsTheFaultOfItsPodAlone) {
  SchedulerFixture fixture;
  fixture.add_node("a");
  fixture.start();
  const std::string affinity =
      R"("affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":)"
      R"({"nodeSelectorTerms":[{"matchExpressions":[{"key":"k","operator":"Exists"},)"
      R"({"key":"k","operator":"DoesNotExist"}]}]}}})";
  fixture.add_pod("contradictory", "1", affinity);
  // The API server would refuse such a quantity, so it is only put into the answers.
  fixture.cluster.proxy.spoil = {"777m", "lots"};
  fixture.add_pod("unreadable", "777m");
  fixture.add_pod("good", "1");
  ASSERT_TRUE(fixture.until([&] { return fixture.is_bound("good"); }));
  fixture.cluster.time.run(1s);
  EXPECT_EQ(fixture.condition("contradictory", "PodScheduled"),
            "False Unschedulable: 0/1 nodes are available: 1 node(s) didn't match Pod's node "
            "affinity/selector. preemption: 0/1 nodes are available: 1 Preemption is not helpful "
            "for scheduling.");
  const std::string unreadable = fixture.condition("unreadable", "PodScheduled");
  EXPECT_EQ(unreadable.substr(0, 99),
            "False Unschedulable: 0/1 nodes are available: parsing pod: "
            "spec.containers[0].resources.requests: c")
      << unreadable;
  EXPECT_NE(fixture.events("unreadable").find("Warning FailedScheduling"), std::string::npos);
}

// Another client binds a pod before the scheduler sees it: the pod stays on that node.
TEST(Scheduling, ABindingIsDecidedOnThePodAsItIs) {
  SchedulerFixture fixture;
  fixture.add_node("a");
  fixture.start();
  ASSERT_TRUE(fixture.until([&] { return (*fixture.replica)->scheduler()->acts(); }));
  // Once a first pod is bound, the watches pause. Meanwhile another client binds "taken".
  fixture.add_pod("p", "1");
  ASSERT_TRUE(fixture.until([&] { return fixture.is_bound("p"); }));
  fixture.cluster.proxy.set(fixture.cluster.time, FaultyProxy::State::mute);
  fixture.add_pod("gone", "1");
  fixture.add_pod("taken", "1");
  fixture.cluster.ask(http::Method::post, SchedulerFixture::pods + "/taken/binding",
                      R"({"kind":"Binding","apiVersion":"v1","metadata":{"name":"taken"},)"
                      R"("target":{"kind":"Node","name":"elsewhere"}})");
  fixture.cluster.proxy.set(fixture.cluster.time, FaultyProxy::State::open);
  ASSERT_TRUE(fixture.until([&] { return fixture.is_bound("gone"); }));
  fixture.cluster.time.run(5s);
  EXPECT_EQ(fixture.node_of("taken"), "elsewhere");
  EXPECT_EQ(
      fixture.cluster_state().queue().active() + fixture.cluster_state().queue().backing_off(), 0u);
  EXPECT_EQ(fixture.cluster_state().assumed(), 0u);
}

TEST(Scheduling, AFailedBindingReleasesTheRoomAndIsTriedAgain) {
  const std::string path = SchedulerFixture::pods + "/p";
  const std::string refused =
      R"( things is forbidden: User "holdfast" cannot do this with resource "things")";
  const struct {
    int status;  // of the binding; 0: no answer
    std::size_t tries;
    std::size_t reads;
    std::string error;
  } rows[] = {{403, 1, 0, "403" + refused},
              {409, 5, 4, "409" + refused},
              {500, 5, 4, "500" + refused},
              {0, 5, 4, "read: deadline passed"}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.status);
    SchedulerFixture fixture;
    fixture.add_node("a", "1");
    fixture.cluster.proxy.refuse("POST " + path + "/binding", row.status);
    fixture.start();
    fixture.add_pod("p", "1");
    ASSERT_TRUE(fixture.until([&] { return !fixture.condition("p", "PodScheduled").empty(); }));
    const std::string error =
        "running Bind plugin \"DefaultBinder\": POST " + path + "/binding: " + row.error;
    EXPECT_EQ(fixture.condition("p", "PodScheduled"), "False SchedulerError: " + error);
    EXPECT_EQ(fixture.asked("POST " + path + "/binding"), row.tries);
    EXPECT_EQ(fixture.asked("GET " + path), row.reads);
    EXPECT_EQ(fixture.cluster_state().assumed(), 0U);
    EXPECT_EQ(fixture.cluster_state().cluster().find("a")->requested.milli_cpu, 0);
    EXPECT_EQ(fixture.cluster_state().queue().backing_off(), 1U);
    fixture.cluster.proxy.refuse("");
    ASSERT_TRUE(fixture.until([&] { return fixture.is_bound("p"); }));
    fixture.cluster.time.run(1s);
    // Without an answer, it is one of the old requests that binds the pod when it gets through.
    const std::string bound = "Normal Scheduled Binding: Successfully assigned default/p to a\n";
    EXPECT_EQ(fixture.events("p"), "Warning FailedScheduling Scheduling: " + error + "\n" +
                                       (row.status == 0 ? "" : bound));
    EXPECT_EQ(fixture.cluster_state().cluster().find("a")->requested.milli_cpu, 1000);
  }
}

// The binding has reached the API server, but its answer is lost.
TEST(Scheduling, ABindingWithoutAnAnswerIsReadFromThePod) {
  SchedulerFixture fixture;
  fixture.add_node("a");
  const std::string path = SchedulerFixture::pods + "/p";
  fixture.cluster.proxy.refuse("POST " + path + "/binding", 0);
  fixture.start();
  fixture.add_pod("p", "1");
  ASSERT_TRUE(fixture.until([&] { return fixture.asked("POST " + path + "/binding") == 1; }));
  fixture.cluster.ask(http::Method::post, path + "/binding",
                      R"({"kind":"Binding","apiVersion":"v1","metadata":{"name":"p"},)"
                      R"("target":{"kind":"Node","name":"a"}})");
  fixture.cluster.time.run(12s);
  EXPECT_EQ(fixture.asked("POST " + path + "/binding"), 1U);
  EXPECT_EQ(fixture.asked("GET " + path), 1U);
  EXPECT_EQ(fixture.events("p"),
            "Normal Scheduled Binding: Successfully assigned default/p to a\n");
}

TEST(Scheduling, NothingIsLostWhileTheApiServerIsAway) {
  SchedulerFixture fixture;
  fixture.add_node("a");
  fixture.start();
  fixture.add_pod("p", "1");
  ASSERT_TRUE(fixture.until([&] { return fixture.is_bound("p"); }));
  for (const FaultyProxy::State away :
       {FaultyProxy::State::refuse, FaultyProxy::State::black_hole}) {
    fixture.cluster.proxy.set(fixture.cluster.time, away);
    const std::string name = away == FaultyProxy::State::refuse ? "s" : "h";
    fixture.add_pod(name, "1");
    fixture.cluster.time.run(2min);
    EXPECT_FALSE(fixture.is_bound(name));
    fixture.cluster.proxy.set(fixture.cluster.time, FaultyProxy::State::open);
    EXPECT_TRUE(fixture.until([&] { return fixture.is_bound(name); }));
  }
  fixture.cluster.time.run(1s);
  EXPECT_EQ(fixture.cluster_state().cluster().find("a")->pods.size(), 3u);
}

TEST(Scheduling, AutonomousNodesOutOfContactTakeNoPods) {
  SchedulerFixture fixture;
  for (const char* name : {"a", "b", "c"}) fixture.add_node(name);
  fixture.cluster.annotate("a", "node.beta.openyurt.io/autonomy", "true");
  CloudSettings settings = fixture.settings();
  settings.controllers = {"*", "scheduler"};
  fixture.start(settings);
  fixture.cluster.time.run(30s);
  fixture.cluster.silence("a");
  fixture.cluster.silence("b");
  ASSERT_TRUE(fixture.cluster.time.run_until(2min, [&] {
    return fixture.cluster.taints("b") == lost_taints && fixture.cluster.ready("a") == "Unknown";
  }));
  // The pods tolerate all taints. The later ones are too large for the node still connected.
  const std::string all = R"("tolerations":[{"operator":"Exists"}])";
  fixture.add_pod("connected", "1", all);
  ASSERT_TRUE(fixture.until([&] { return fixture.is_bound("connected"); }));
  EXPECT_EQ(fixture.node_of("connected"), "c");
  fixture.add_pod("tolerated", "3500m", all);
  ASSERT_TRUE(fixture.until([&] { return fixture.is_bound("tolerated"); }));
  EXPECT_EQ(fixture.node_of("tolerated"), "b");
  fixture.add_pod("withheld", "3600m", all);
  fixture.cluster.time.run(5s);
  EXPECT_EQ(fixture.condition("withheld", "PodScheduled").substr(0, 119),
            "False Unschedulable: 0/3 nodes are available: 1 node(s) were autonomous and out of "
            "contact, 2 Insufficient cpu. preempt");
  fixture.cluster.revive("a");
  EXPECT_TRUE(fixture.until([&] { return fixture.is_bound("withheld"); }));
  EXPECT_EQ(fixture.node_of("withheld"), "a");
}

TEST(Scheduling, EachControllerHasItsLease) {
  SchedulerFixture fixture;
  fixture.add_node("a");
  CloudSettings settings = fixture.settings();
  settings.controllers = {"*", "scheduler"};
  settings.leader.elect = true;
  fixture.start(settings);
  fixture.add_pod("p", "1");
  ASSERT_TRUE(fixture.until([&] { return fixture.is_bound("p"); }));
  const std::string leases = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/";
  for (const char* name : {"holdfast-cloud", "holdfast-scheduler"}) {
    const std::string body = fixture.cluster.ask(http::Method::get, leases + name);
    EXPECT_NE(body.find("holderIdentity"), std::string::npos) << body;
    EXPECT_TRUE(
        fixture.has_metric("leader_election_master_status{name=\"" + std::string(name) + "\"} 1"));
  }
  // A second replica follows and takes over when the first one ends.
  CloudSettings other = fixture.cluster.settings(fixture.cluster.other_proxy);
  other.controllers = {"scheduler"};
  other.leader.elect = true;
  Replica second(fixture.cluster.time, other);
  fixture.cluster.time.run(5s);
  EXPECT_FALSE(second->scheduler()->leads());
  EXPECT_EQ(Cluster::count(fixture.cluster.other_proxy, "POST"), 0u);
  fixture.replica.reset();
  fixture.add_pod("q", "1");
  EXPECT_TRUE(fixture.until([&] { return fixture.is_bound("q"); }));
  EXPECT_TRUE(second->scheduler()->leads());
}

TEST(Scheduling, IsReadyOnceEverythingIsReceived) {
  SchedulerFixture fixture;
  fixture.cluster.proxy.set(fixture.cluster.time, FaultyProxy::State::black_hole);
  fixture.start();
  const auto ready = [&fixture] {
    const http::Request request{.target = "/readyz"};
    return (*fixture.replica)->endpoints().answer(request);
  };
  fixture.cluster.time.run(1s);
  EXPECT_NE(ready().body.find("[-]caches failed: never received in full: nodes pods namespaces "
                              "poddisruptionbudgets\n"),
            std::string::npos)
      << ready().body;
  fixture.cluster.proxy.set(fixture.cluster.time, FaultyProxy::State::open);
  EXPECT_TRUE(fixture.until([&ready] { return ready().status == 200; }));
}

TEST(Scheduling, ARefusedListIsNamedWithItsReason) {
  SchedulerFixture fixture;
  fixture.cluster.proxy.refuse("GET /apis/policy/v1/poddisruptionbudgets");
  fixture.start();
  fixture.cluster.time.run(10s);
  const http::Request request{.target = "/readyz"};
  const std::string body = (*fixture.replica)->endpoints().answer(request).body;
  EXPECT_NE(
      body.find("[-]caches failed: never received in full: poddisruptionbudgets (403 things is "
                "forbidden: User \"holdfast\" cannot do this with resource \"things\")\n"),
      std::string::npos)
      << body;
}

}  // namespace
}  // namespace holdfast::agent
