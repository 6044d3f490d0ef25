// When PodRuntime reports the status of a pod again, as scripts.

#include <algorithm>

#include "sync/runtime/pod_runtime.h"
#include "sync/runtime/status_patch.h"
#include "test/unit/sync/runtime/fake_node.h"

namespace holdfast::sync::runtime {
namespace {

using namespace std::chrono_literals;
using test::FakeNode;
using test::Lines;
using test::simple_pod;

TEST(PodReports, ARestartedAgentDoesNotRepeatWhatTheServerKnows) {
  FakeNode node;
  auto pod = simple_pod("a");
  node.list({pod});
  (void)node.step();
  pod->status = node.reported.at("uid-a");
  node.list({pod});
  EXPECT_EQ(node.step(), Lines{});
  node.restart_agent();
  EXPECT_EQ(node.step(1h), Lines{});
}

TEST(PodReports, AStatusThatOthersOverwroteIsSaidAgain) {
  FakeNode node;
  auto pod = simple_pod("a");
  node.list({pod});
  (void)node.step();
  pod->status.phase = "Pending";  // an older report, or somebody else's write
  pod->metadata.resource_version = "2";
  node.list({pod});
  EXPECT_EQ(node.step(), Lines{"report default/a Running Ready c=running"});
  EXPECT_EQ(node.step(1h), Lines{});
}

// A report that was made from an older pod would otherwise take back what others have written
// since.
TEST(PodReports, ConditionsOfOthersAreNotSent) {
  PodStatus status;
  status.phase = "Running";
  status.conditions = {{"Ready", "True", {}, {}, "", "", {}},
                       {"example.com/in-load-balancer", "False", {}, {}, "Draining", "", {}}};
  EXPECT_EQ(status_patch({"default", "a", "uid-a"}, status),
            R"({"metadata":{"uid":"uid-a"},"status":{"phase":"Running","reason":null,)"
            R"("message":null,"conditions":[{"type":"Ready","status":"True",)"
            R"("lastProbeTime":null,"lastTransitionTime":null,"reason":null,"message":null}]}})");
  status.conditions.erase(status.conditions.begin());
  EXPECT_EQ(status_patch({"default", "a", "uid-a"}, status),
            R"({"metadata":{"uid":"uid-a"},"status":{"phase":"Running","reason":null,)"
            R"("message":null}})");
}

// Two reports on their way, whose conditions were merged in different orders, and a condition of
// others.
TEST(PodReports, NeitherAnotherOrderOfConditionsNorThoseOfOthersAreNews) {
  FakeNode node;
  auto pod = simple_pod("a");
  node.list({pod});
  (void)node.step();
  PodStatus status = node.reported.at("uid-a");
  status.conditions.push_back(
      {"DisruptionTarget", "True", {}, {}, "PreemptionByScheduler", "", {}});
  for (const char* version : {"2", "3", "4", "5"}) {
    std::rotate(status.conditions.begin(), status.conditions.end() - 1, status.conditions.end());
    pod->status = status;
    pod->metadata.resource_version = version;
    node.list({pod});
    EXPECT_EQ(node.step(), Lines{}) << version;
  }
}

}  // namespace
}  // namespace holdfast::sync::runtime
