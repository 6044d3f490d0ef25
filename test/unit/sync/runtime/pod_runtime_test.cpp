// PodRuntime, as scripts: events on a node, and the actions that must follow.

#include "sync/runtime/pod_runtime.h"

#include "test/unit/sync/runtime/fake_node.h"

namespace holdfast::sync::runtime {
namespace {

using namespace std::chrono_literals;
using test::FakeNode;
using test::Lines;
using test::simple_pod;

std::shared_ptr<Pod> with_spec(const std::string& name, const std::string& spec) {
  return test::pod_from(R"({"metadata":{"namespace":"default","name":")" + name +
                        R"(","uid":"uid-)" + name + R"("},"spec":)" + spec + "}");
}

const std::string containers = R"("containers":[{"name":"c","command":["run"]}]})";

TEST(PodRuntime, StartsWhatIsListedAndReportsIt) {
  FakeNode node;
  EXPECT_EQ(node.step(), Lines{});
  node.list({simple_pod("a"), simple_pod("b")});
  EXPECT_EQ(node.step(), (Lines{"start default/a c#0 restarts 0 next 0s: sleep 1000",
                                "start default/b c#0 restarts 0 next 0s: sleep 1000",
                                "report default/a Running Ready c=running",
                                "report default/b Running Ready c=running"}));
  EXPECT_EQ(node.due(), std::nullopt);
  EXPECT_EQ(node.step(1h), Lines{});
}

TEST(PodRuntime, AStartUnderWayIsNotRepeated) {
  FakeNode node;
  node.starts_hang = true;
  node.list({simple_pod("a")});
  EXPECT_EQ(node.step(), (Lines{"start default/a c#0 restarts 0 next 0s: sleep 1000",
                                "report default/a Pending c=ContainerCreating"}));
  EXPECT_EQ(node.step(1h), Lines{});
  node.observed["uid-a"]["c"].back().state = AttemptState::running;
  EXPECT_EQ(node.step(), Lines{"report default/a Running Ready c=running"});
}

TEST(PodRuntime, RestartsWithBackoff) {
  FakeNode node;
  node.list({simple_pod("a")});
  (void)node.step();
  node.ends("uid-a", 1);
  EXPECT_EQ(node.step(1s), (Lines{"start default/a c#1 restarts 1 next 10s: sleep 1000",
                                  "report default/a Running Ready c=running(1)"}));
  node.ends("uid-a", 1);
  EXPECT_EQ(node.step(), Lines{"report default/a Running c=CrashLoopBackOff(1)"});
  EXPECT_EQ(node.due(), 10s);
  EXPECT_EQ(node.step(9s), Lines{});
  EXPECT_EQ(node.step(1s), (Lines{"start default/a c#2 restarts 2 next 20s: sleep 1000",
                                  "report default/a Running Ready c=running(2)"}));
  node.ends("uid-a", 0);
  (void)node.step();
  EXPECT_EQ(node.due(), 20s);
  (void)node.step(20s);
  EXPECT_EQ(node.step(10min + 1s), Lines{});
  node.ends("uid-a", 0);
  EXPECT_EQ(node.step(), (Lines{"start default/a c#4 restarts 4 next 10s: sleep 1000",
                                "report default/a Running Ready c=running(4)"}));
}

TEST(PodRuntime, AStartThatFailsBacksOffToo) {
  FakeNode node;
  node.starts_hang = true;
  node.list({simple_pod("a")});
  (void)node.step();
  node.ends("uid-a", "c", {ContainerExit::Kind::failed, 0, "start sleep: No such file"});
  EXPECT_EQ(node.step(), (Lines{"start default/a c#1 restarts 1 next 10s: sleep 1000",
                                "report default/a Running c=ContainerCreating(1)"}));
  node.ends("uid-a", "c", {ContainerExit::Kind::failed, 0, "start sleep: No such file"});
  EXPECT_EQ(node.step(), Lines{"report default/a Running c=CrashLoopBackOff(1)"});
  EXPECT_EQ(node.due(), 10s);
}

TEST(PodRuntime, WhatNeverBeganIsStartedAtOnceAndNotCounted) {
  FakeNode node;
  node.starts_hang = true;
  node.list({simple_pod("a")});
  (void)node.step();
  node.ends("uid-a", "c", {ContainerExit::Kind::never_began, 0, ""});
  EXPECT_EQ(node.step(), (Lines{"start default/a c#1 restarts 0 next 0s: sleep 1000",
                                "report default/a Pending c=ContainerCreating"}));
}

TEST(PodRuntime, WhatNeverBeginsIsABackOffAndSaysWhy) {
  FakeNode node;
  node.starts_hang = true;
  node.list({simple_pod("a")});
  (void)node.step();
  const ContainerExit never{ContainerExit::Kind::never_began, 0, "nobody was left to start it"};
  node.ends("uid-a", "c", never);
  (void)node.step();
  node.ends("uid-a", "c", never);
  EXPECT_EQ(node.step().front(), "start default/a c#2 restarts 0 next 10s: sleep 1000");
  node.ends("uid-a", "c", never);
  EXPECT_EQ(node.step(), Lines{"report default/a Running c=CrashLoopBackOff"});
  EXPECT_EQ(node.due(), 10s);
  EXPECT_EQ(node.step(10s).front(), "start default/a c#3 restarts 0 next 20s: sleep 1000");
}

TEST(PodRuntime, RestartPolicies) {
  const struct {
    std::string policy;
    int code;
    Lines expect;
  } rows[] = {
      {"Never", 0, {"report default/a Succeeded c=exit 0"}},
      {"Never", 1, {"report default/a Failed c=exit 1"}},
      {"OnFailure", 0, {"report default/a Succeeded c=exit 0"}},
      {"OnFailure",
       1,
       {"start default/a c#1 restarts 1 next 10s: run",
        "report default/a Running Ready c=running(1)"}},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.policy + std::to_string(row.code));
    FakeNode node;
    node.list({with_spec("a", R"({"restartPolicy":")" + row.policy + "\"," + containers)});
    (void)node.step();
    node.ends("uid-a", row.code);
    EXPECT_EQ(node.step(), row.expect);
    EXPECT_EQ(node.step(1h), Lines{});
  }
}

TEST(PodRuntime, ADeletedPodGetsItsGraceThenIsDeletedForGood) {
  FakeNode node;
  auto pod = simple_pod("a");
  node.list({pod});
  (void)node.step();
  pod->metadata.deletion_timestamp = WallTime{};
  pod->metadata.deletion_grace_period_seconds = 20;
  node.list({pod});
  EXPECT_EQ(node.step(), (Lines{"terminate uid-a c#0"}));
  EXPECT_EQ(node.due(), 20s);
  EXPECT_EQ(node.step(19s), Lines{});
  EXPECT_EQ(node.step(1s), Lines{"kill uid-a c#0"});
  EXPECT_EQ(node.due(), 10s);
  EXPECT_EQ(node.step(10s), Lines{"kill uid-a c#0"});
  node.ends("uid-a", "c", {ContainerExit::Kind::signal, 9, ""});
  EXPECT_EQ(node.step(), (Lines{"report default/a Failed c=exit 137", "delete default/a uid-a"}));
  EXPECT_EQ(node.step(59s), Lines{});
  EXPECT_EQ(node.step(1s), Lines{"delete default/a uid-a"});
  node.list({});
  EXPECT_EQ(node.step(), Lines{"remove uid-a"});
  EXPECT_TRUE(node.records.empty());
}

TEST(PodRuntime, AShorterGraceTakesEffect) {
  FakeNode node;
  auto pod = simple_pod("a");
  pod->metadata.deletion_timestamp = WallTime{};
  pod->metadata.deletion_grace_period_seconds = 300;
  node.list({simple_pod("a")});
  (void)node.step();
  node.list({pod});
  (void)node.step();
  pod->metadata.deletion_grace_period_seconds = 5;
  node.list({pod});
  EXPECT_EQ(node.step(4s), Lines{});
  EXPECT_EQ(node.step(1s), Lines{"kill uid-a c#0"});
}

TEST(PodRuntime, APodGoneFromACompleteListIsStoppedWithoutAWord) {
  FakeNode node;
  node.list({simple_pod("a"), simple_pod("b")});
  (void)node.step();
  node.list({simple_pod("b")});
  EXPECT_EQ(node.step(), Lines{"terminate uid-a c#0"});
  EXPECT_EQ(node.due(), 30s);
  node.ends("uid-a");
  EXPECT_EQ(node.step(), Lines{"remove uid-a"});
  EXPECT_FALSE(node.records.contains("uid-a"));
}

TEST(PodRuntime, ANewUidIsAnotherPod) {
  FakeNode node;
  node.list({simple_pod("a")});
  (void)node.step();
  auto recreated = simple_pod("a");
  recreated->metadata.uid = "uid-new";
  node.list({recreated});
  EXPECT_EQ(node.step(),
            (Lines{"terminate uid-a c#0", "start default/a c#0 restarts 0 next 0s: sleep 1000",
                   "report default/a Running Ready c=running"}));
}

TEST(PodRuntime, StopsNothingForLackOfKnowledge) {
  FakeNode node;
  node.list({simple_pod("a")});
  (void)node.step();
  node.forget_list();
  EXPECT_EQ(node.step(24h), Lines{});
  node.restart_agent();
  EXPECT_EQ(node.step(24h), Lines{"report default/a Running Ready c=running"});
  node.ends("uid-a", 1);
  EXPECT_EQ(node.step(), (Lines{"start default/a c#1 restarts 1 next 10s: sleep 1000",
                                "report default/a Running Ready c=running(1)"}))
      << "a container that ends is restarted from its record";
}

TEST(PodRuntime, ARestartedAgentGoesOnWithAStop) {
  FakeNode node;
  node.list({simple_pod("a")});
  (void)node.step();
  node.list({});
  EXPECT_EQ(node.step(), Lines{"terminate uid-a c#0"});
  node.forget_list();
  node.restart_agent();
  EXPECT_EQ(node.step(), Lines{"terminate uid-a c#0"});
  node.ends("uid-a");
  EXPECT_EQ(node.step(), Lines{"remove uid-a"});
}

TEST(PodRuntime, AStrayWithoutARecordIsStoppedOnceTheListIsKnown) {
  FakeNode node;
  node.list({simple_pod("a"), simple_pod("b")});
  (void)node.step();
  node.observed["uid-empty"];
  node.records.clear();
  node.forget_list();
  node.restart_agent();
  EXPECT_EQ(node.step(1h), Lines{});
  node.list({simple_pod("b")});
  EXPECT_EQ(node.step(), (Lines{"terminate uid-a c#0", "report default/b Running Ready c=running",
                                "remove uid-empty"}));
  node.ends("uid-a");
  EXPECT_EQ(node.step(), Lines{"remove uid-a"});
}

TEST(PodRuntime, APodThatIsBeingRemovedDoesNotComeBackToLife) {
  FakeNode node;
  node.list({simple_pod("a")});
  (void)node.step();
  node.list({});
  (void)node.step();
  node.list({simple_pod("a")});
  EXPECT_EQ(node.step(), Lines{});
  node.ends("uid-a");
  EXPECT_EQ(node.step(), (Lines{"report default/a Succeeded c=exit 0", "remove uid-a",
                                "start default/a c#0 restarts 0 next 0s: sleep 1000",
                                "report default/a Running Ready c=running"}));
}

TEST(PodRuntime, APodThatWasDeletedBeforeItStarted) {
  FakeNode node;
  auto pod = simple_pod("a");
  pod->metadata.deletion_timestamp = WallTime{};
  node.list({pod});
  EXPECT_EQ(node.step(),
            (Lines{"report default/a Failed c=ContainerCreating", "delete default/a uid-a"}));
}

TEST(PodRuntime, FinalizersOfOthersAreWaitedFor) {
  FakeNode node;
  auto pod = simple_pod("a");
  pod->metadata.deletion_timestamp = WallTime{};
  pod->metadata.deletion_grace_period_seconds = 0;
  pod->metadata.finalizers = {"example.com/hold"};
  node.list({pod});
  EXPECT_EQ(node.step(), Lines{"report default/a Failed c=ContainerCreating"});
  EXPECT_EQ(node.due(), std::nullopt);
}

TEST(PodRuntime, WhatHasEndedElsewhereIsNotRunAgain) {
  FakeNode node;
  auto pod = simple_pod("a");
  pod->status.phase = "Succeeded";
  node.list({pod});
  EXPECT_EQ(node.step(), Lines{});
  node.restart_agent();
  EXPECT_EQ(node.step(), Lines{});
  pod->metadata.deletion_timestamp = WallTime{};
  node.list({pod});
  EXPECT_EQ(node.step(), Lines{"delete default/a uid-a"});
}

TEST(PodRuntime, AMissingConfigMapIsWaitedFor) {
  FakeNode node;
  auto pod = with_spec("a", R"({"containers":[{"name":"c","command":["run"],
      "envFrom":[{"configMapRef":{"name":"settings"}}]}]})");
  node.list({pod});
  EXPECT_EQ(node.step(), Lines{"report default/a Pending c=CreateContainerConfigError"});
  EXPECT_EQ(node.due(), 10s);
  node.configs.config_maps["default/settings"] = std::nullopt;
  EXPECT_EQ(node.step(10s), Lines{"report default/a Pending c=CreateContainerConfigError"})
      << "another message, because it is now known not to exist";
  EXPECT_EQ(node.step(10s), Lines{});
  node.configs.config_maps["default/settings"] = StringMap{{"A", "1"}};
  EXPECT_EQ(node.step(10s), (Lines{"start default/a c#0 restarts 0 next 0s: run",
                                   "report default/a Running Ready c=running"}));
}

TEST(PodRuntime, InitContainersSidecarsAndTheEnd) {
  FakeNode node;
  const auto fails = ContainerExit{ContainerExit::Kind::code, 1, ""};
  const auto ends_well = ContainerExit{ContainerExit::Kind::code, 0, ""};
  node.list({with_spec("a", R"({"restartPolicy":"OnFailure","initContainers":[
      {"name":"i","command":["init"]},{"name":"s","command":["side"],"restartPolicy":"Always"}],)" +
                                containers)});
  EXPECT_EQ(node.step(), (Lines{"start default/a i#0 restarts 0 next 0s: init",
                                "report default/a Pending i=running s=PodInitializing "
                                "c=PodInitializing"}));
  node.ends("uid-a", "i", fails);
  EXPECT_EQ(node.step(), (Lines{"start default/a i#1 restarts 1 next 10s: init",
                                "report default/a Pending i=running(1) s=PodInitializing "
                                "c=PodInitializing"}));
  node.ends("uid-a", "i", ends_well);
  EXPECT_EQ(node.step(), (Lines{"start default/a s#0 restarts 0 next 0s: side",
                                "start default/a c#0 restarts 0 next 0s: run",
                                "report default/a Running Ready i=exit 0(1) s=running c=running"}));
  node.ends("uid-a", "c", ends_well);
  EXPECT_EQ(node.step(), (Lines{"terminate uid-a s#0",
                                "report default/a Running i=exit 0(1) s=running c=exit 0"}));
  node.ends("uid-a", "s", ends_well);
  EXPECT_EQ(node.step(), Lines{"report default/a Succeeded i=exit 0(1) s=exit 0 c=exit 0"});
}

TEST(PodRuntime, AnInitContainerThatFailsForGoodFailsThePod) {
  FakeNode node;
  node.list({with_spec("a", R"({"restartPolicy":"Never","initContainers":[
      {"name":"i","command":["init"]}],)" +
                                containers)});
  (void)node.step();
  node.ends("uid-a", "i", {ContainerExit::Kind::code, 1, ""});
  EXPECT_EQ(node.step(), Lines{"report default/a Failed i=exit 1 c=PodInitializing"});
}

TEST(PodRuntime, AnActiveDeadlineBeyondAllClocksIsTenYearsAway) {
  FakeNode node;
  node.list({with_spec("a", R"({"activeDeadlineSeconds":9223372036854775807,)" + containers)});
  (void)node.step();
  EXPECT_EQ(node.due(), 10 * 365 * 24h);
}

TEST(PodRuntime, ActiveDeadline) {
  FakeNode node;
  node.list({with_spec("a", R"({"activeDeadlineSeconds":60,)" + containers)});
  (void)node.step();
  EXPECT_EQ(node.due(), 60s);
  EXPECT_EQ(node.step(60s), Lines{"terminate uid-a c#0"});
  node.ends("uid-a", "c", {ContainerExit::Kind::signal, 15, ""});
  EXPECT_EQ(node.step(), Lines{"report default/a Failed DeadlineExceeded c=exit 143"});
  EXPECT_EQ(node.due(), std::nullopt);
}

TEST(PodRuntime, WhatCannotBecomeAFileNameIsNotRun) {
  for (const char* uid : {"", "..", "a/b", "../../etc", "a b", "."}) {
    auto pod = simple_pod("a");
    pod->metadata.uid = uid;
    EXPECT_FALSE(is_runnable(*pod)) << uid;
    FakeNode node;
    node.list({pod});
    EXPECT_EQ(node.step(), Lines{});
  }
  auto twice = simple_pod("a");
  twice->spec.containers.push_back(twice->spec.containers[0]);
  EXPECT_FALSE(is_runnable(*twice));
  auto bad_name = simple_pod("a");
  bad_name->spec.containers[0].name = "c/../..";
  EXPECT_FALSE(is_runnable(*bad_name));
  auto empty = simple_pod("a");
  empty->spec.containers.clear();
  EXPECT_FALSE(is_runnable(*empty));
  EXPECT_TRUE(is_runnable(*simple_pod("a")));
}

}  // namespace
}  // namespace holdfast::sync::runtime
