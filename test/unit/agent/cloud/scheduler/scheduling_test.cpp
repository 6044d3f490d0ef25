// The scheduler of holdfast-cloud against the lab's API server: it binds pods, reports on the pod
// why it cannot be bound, and loses no pod when requests fail.

#include "test/unit/agent/cloud/scheduler/office.h"

namespace holdfast::agent {
namespace {

TEST(Scheduling, PodsAreBoundAndToldOf) {
  Office office;
  office.add_node("a");
  office.add_node("b");
  office.start();
  for (const char* name : {"p", "q"}) office.add_pod(name, "3");
  ASSERT_TRUE(office.until([&] { return office.is_bound("p") && office.is_bound("q"); }));
  EXPECT_NE(office.node_of("p"), office.node_of("q")) << "an assumed pod takes room";
  office.cluster.time.run(1s);
  EXPECT_EQ(office.condition("p", "PodScheduled"), "True");
  EXPECT_EQ(office.events("p"), "Normal Scheduled Binding: Successfully assigned default/p to " +
                                    office.node_of("p") + "\n");
  EXPECT_EQ(office.books().assumed(), 0u) << "the watch has confirmed both";
  EXPECT_EQ(office.asked("PATCH"), 0u);
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
    EXPECT_TRUE(office.has_metric(line)) << line;
  }
}

TEST(Scheduling, OnlyTheSchedulersOwnPodsArePlaced) {
  Office office;
  office.add_node("a");
  CloudSettings settings = office.settings();
  settings.scheduler.name = "mine";
  office.start(settings);
  office.add_pod("other", "1");
  office.add_pod("own", "1");
  office.cluster.ask(http::Method::post, Office::pods,
                     R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p"},"spec":{)"
                     R"("schedulerName":"mine","containers":[{"name":"c","image":"i"}]}})");
  ASSERT_TRUE(office.until([&] { return office.is_bound("p"); }));
  office.cluster.time.run(10s);
  EXPECT_FALSE(office.is_bound("own"));
  EXPECT_EQ(office.asked("PUT") + office.asked("DELETE") + office.asked("PATCH"), 0u)
      << "and nothing else is done: there is no lifecycle here";
}

TEST(Scheduling, APodThatFitsNowhereSaysWhyAndGoesWhenItMay) {
  Office office;
  office.add_node("a", "1");
  office.start();
  office.add_pod("p", "2");
  const std::string why =
      "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 "
      "Preemption is not helpful for scheduling.";
  ASSERT_TRUE(office.until([&] { return !office.condition("p", "PodScheduled").empty(); }));
  EXPECT_EQ(office.condition("p", "PodScheduled"), "False Unschedulable: " + why);
  office.cluster.time.run(1s);
  EXPECT_EQ(office.events("p"), "Warning FailedScheduling Scheduling: " + why + "\n");
  EXPECT_TRUE(office.has_metric("scheduler_pending_pods{queue=\"unschedulable\"} 1"));
  EXPECT_TRUE(office.has_metric(
      "scheduler_unschedulable_pods{plugin=\"NodeResourcesFit\",profile=\"holdfast-scheduler\"} "
      "1"));
  const std::size_t quiet = office.cluster.door.asked.size();
  office.cluster.time.run(30s);
  EXPECT_EQ(office.cluster.door.asked.size(), quiet) << "nothing has happened";
  office.add_node("b", "4");
  ASSERT_TRUE(office.until([&] { return office.is_bound("p"); }));
  EXPECT_EQ(office.node_of("p"), "b");
  EXPECT_EQ(office.condition("p", "PodScheduled"), "True");
}

TEST(Scheduling, WithoutNodesItSaysSo) {
  Office office;
  office.start();
  office.add_pod("p", "1");
  ASSERT_TRUE(office.until([&] { return !office.condition("p", "PodScheduled").empty(); }));
  EXPECT_EQ(office.condition("p", "PodScheduled"),
            "False Unschedulable: no nodes available to schedule pods");
}

TEST(Scheduling, GatedPodsWaitWithoutBeingTried) {
  Office office;
  office.add_node("a");
  office.start();
  office.add_pod("p", "1", R"("schedulingGates":[{"name":"example.com/g"}])");
  office.cluster.time.run(5s);
  EXPECT_FALSE(office.is_bound("p"));
  EXPECT_TRUE(office.has_metric("scheduler_pending_pods{queue=\"gated\"} 1"));
  office.cluster.ask(http::Method::patch, Office::pods + "/p",
                     R"({"spec":{"schedulingGates":null}})", Office::merge);
  EXPECT_TRUE(office.until([&] { return office.is_bound("p"); }));
}

TEST(Scheduling, BadInputIsTheFaultOfItsPodAlone) {
  Office office;
  office.add_node("a");
  office.start();
  const std::string affinity =
      R"("affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":)"
      R"({"nodeSelectorTerms":[{"matchExpressions":[{"key":"k","operator":"Exists"},)"
      R"({"key":"k","operator":"DoesNotExist"}]}]}}})";
  office.add_pod("contradictory", "1", affinity);
  // The API server would refuse such a quantity, so it is only put into the answers.
  office.cluster.door.spoil = {"777m", "lots"};
  office.add_pod("unreadable", "777m");
  office.add_pod("good", "1");
  ASSERT_TRUE(office.until([&] { return office.is_bound("good"); }));
  office.cluster.time.run(1s);
  EXPECT_EQ(office.condition("contradictory", "PodScheduled"),
            "False Unschedulable: 0/1 nodes are available: 1 node(s) didn't match Pod's node "
            "affinity/selector. preemption: 0/1 nodes are available: 1 Preemption is not helpful "
            "for scheduling.");
  const std::string unreadable = office.condition("unreadable", "PodScheduled");
  EXPECT_EQ(unreadable.substr(0, 99),
            "False Unschedulable: 0/1 nodes are available: parsing pod: "
            "spec.containers[0].resources.requests: c")
      << unreadable;
  EXPECT_NE(office.events("unreadable").find("Warning FailedScheduling"), std::string::npos);
}

// Another client binds a pod before the scheduler sees it: the pod stays on that node.
TEST(Scheduling, ABindingIsDecidedOnThePodAsItIs) {
  Office office;
  office.add_node("a");
  office.start();
  ASSERT_TRUE(office.until([&] { return (*office.replica)->scheduler()->acts(); }));
  // Once a first pod is bound, the watches pause. Meanwhile another client binds "taken".
  office.add_pod("p", "1");
  ASSERT_TRUE(office.until([&] { return office.is_bound("p"); }));
  office.cluster.door.set(office.cluster.time, Door::State::mute);
  office.add_pod("gone", "1");
  office.add_pod("taken", "1");
  office.cluster.ask(http::Method::post, Office::pods + "/taken/binding",
                     R"({"kind":"Binding","apiVersion":"v1","metadata":{"name":"taken"},)"
                     R"("target":{"kind":"Node","name":"elsewhere"}})");
  office.cluster.door.set(office.cluster.time, Door::State::open);
  ASSERT_TRUE(office.until([&] { return office.is_bound("gone"); }));
  office.cluster.time.run(5s);
  EXPECT_EQ(office.node_of("taken"), "elsewhere");
  EXPECT_EQ(office.books().queue().active() + office.books().queue().backing_off(), 0u);
  EXPECT_EQ(office.books().assumed(), 0u);
}

TEST(Scheduling, NothingIsLostWhileTheApiServerIsAway) {
  Office office;
  office.add_node("a");
  office.start();
  office.add_pod("p", "1");
  ASSERT_TRUE(office.until([&] { return office.is_bound("p"); }));
  for (const Door::State away : {Door::State::shut, Door::State::hole}) {
    office.cluster.door.set(office.cluster.time, away);
    const std::string name = away == Door::State::shut ? "s" : "h";
    office.add_pod(name, "1");
    office.cluster.time.run(2min);
    EXPECT_FALSE(office.is_bound(name));
    office.cluster.door.set(office.cluster.time, Door::State::open);
    EXPECT_TRUE(office.until([&] { return office.is_bound(name); }));
  }
  office.cluster.time.run(1s);
  EXPECT_EQ(office.books().cluster().find("a")->pods.size(), 3u);
}

TEST(Scheduling, AutonomousNodesOutOfContactTakeNoPods) {
  Office office;
  for (const char* name : {"a", "b", "c"}) office.add_node(name);
  office.cluster.annotate("a", "node.beta.openyurt.io/autonomy", "true");
  CloudSettings settings = office.settings();
  settings.controllers = {"*", "scheduler"};
  office.start(settings);
  office.cluster.time.run(30s);
  office.cluster.silence("a");
  office.cluster.silence("b");
  ASSERT_TRUE(office.cluster.time.run_until(2min, [&] {
    return office.cluster.taints("b") == lost_taints && office.cluster.ready("a") == "Unknown";
  }));
  // The pods tolerate all taints. The later ones are too large for the node still connected.
  const std::string all = R"("tolerations":[{"operator":"Exists"}])";
  office.add_pod("connected", "1", all);
  ASSERT_TRUE(office.until([&] { return office.is_bound("connected"); }));
  EXPECT_EQ(office.node_of("connected"), "c");
  office.add_pod("tolerated", "3500m", all);
  ASSERT_TRUE(office.until([&] { return office.is_bound("tolerated"); }));
  EXPECT_EQ(office.node_of("tolerated"), "b");
  office.add_pod("withheld", "3600m", all);
  office.cluster.time.run(5s);
  EXPECT_EQ(office.condition("withheld", "PodScheduled").substr(0, 119),
            "False Unschedulable: 0/3 nodes are available: 1 node(s) were autonomous and out of "
            "contact, 2 Insufficient cpu. preempt");
  office.cluster.revive("a");
  EXPECT_TRUE(office.until([&] { return office.is_bound("withheld"); }));
  EXPECT_EQ(office.node_of("withheld"), "a");
}

TEST(Scheduling, EachControllerHasItsLease) {
  Office office;
  office.add_node("a");
  CloudSettings settings = office.settings();
  settings.controllers = {"*", "scheduler"};
  settings.leader.elect = true;
  office.start(settings);
  office.add_pod("p", "1");
  ASSERT_TRUE(office.until([&] { return office.is_bound("p"); }));
  const std::string leases = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/";
  for (const char* name : {"holdfast-cloud", "holdfast-scheduler"}) {
    const std::string body = office.cluster.ask(http::Method::get, leases + name);
    EXPECT_NE(body.find("holderIdentity"), std::string::npos) << body;
    EXPECT_TRUE(
        office.has_metric("leader_election_master_status{name=\"" + std::string(name) + "\"} 1"));
  }
  // A second replica follows and takes over when the first one ends.
  CloudSettings other = office.cluster.settings(office.cluster.other_door);
  other.controllers = {"scheduler"};
  other.leader.elect = true;
  Replica second(office.cluster.time, other);
  office.cluster.time.run(5s);
  EXPECT_FALSE(second->scheduler()->leads());
  EXPECT_EQ(Cluster::count(office.cluster.other_door, "POST"), 0u);
  office.replica.reset();
  office.add_pod("q", "1");
  EXPECT_TRUE(office.until([&] { return office.is_bound("q"); }));
  EXPECT_TRUE(second->scheduler()->leads());
}

TEST(Scheduling, IsReadyOnceEverythingIsReceived) {
  Office office;
  office.cluster.door.set(office.cluster.time, Door::State::hole);
  office.start();
  const auto ready = [&office] {
    const http::Request request{.target = "/readyz"};
    return (*office.replica)->endpoints().answer(request);
  };
  office.cluster.time.run(1s);
  EXPECT_NE(ready().body.find("[-]caches failed: never received in full: nodes pods namespaces "
                              "poddisruptionbudgets\n"),
            std::string::npos)
      << ready().body;
  office.cluster.door.set(office.cluster.time, Door::State::open);
  EXPECT_TRUE(office.until([&ready] { return ready().status == 200; }));
}

}  // namespace
}  // namespace holdfast::agent
