// What a pod requests: sidecars, overhead, requests of the pod as a whole, and resizes in place.

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "sync/schedule/requests.h"

namespace holdfast::sync::schedule {
namespace {

Container asking(const std::string& name, const StringMap& requests) {
  Container container;
  container.name = name;
  container.resources.requests = requests;
  return container;
}

ContainerStatus granted(const std::string& name, const StringMap& allocated,
                        const StringMap& actuated) {
  ContainerStatus status;
  status.name = name;
  status.allocated_resources = allocated;
  if (!actuated.empty()) {
    status.resources = ResourceRequirements{};
    status.resources->requests = actuated;
  }
  return status;
}

void resize(Pod& pod, const std::string& reason) {
  PodCondition condition;
  condition.type = "PodResizePending";
  condition.status = "True";
  condition.reason = reason;
  pod.status.conditions.push_back(condition);
}

void ask_as_a_whole(Pod& pod, const StringMap& requests) {
  pod.spec.resources = ResourceRequirements{};
  pod.spec.resources->requests = requests;
}

void grant_as_a_whole(Pod& pod, const StringMap& allocated, const StringMap& actuated) {
  pod.status.allocated_resources = allocated;
  pod.status.resources = ResourceRequirements{};
  pod.status.resources->requests = actuated;
}

struct Asking {
  std::string what;
  std::function<void(Pod&)> change;  // of a pod with one container "c" of 1 cpu and 1Gi
  std::int64_t milli_cpu;
  std::int64_t mebibytes;
};

const std::vector<Asking>& askings() {
  static const std::vector<Asking> all = {
      {"as the spec has it", [](Pod&) {}, 1000, 1024},
      {"a sidecar beside the containers",
       [](Pod& pod) {
         pod.spec.init_containers.push_back(asking("s", {{"cpu", "200m"}}));
         pod.spec.init_containers.back().restart_policy = "Always";
         pod.spec.init_containers.push_back(asking("i", {{"cpu", "900m"}}));
       },
       1200, 1024},
      {"the peak of an init container with the sidecars before it",
       [](Pod& pod) {
         pod.spec.init_containers.push_back(asking("s", {{"cpu", "200m"}}));
         pod.spec.init_containers.back().restart_policy = "Always";
         pod.spec.init_containers.push_back(asking("i", {{"cpu", "3"}}));
       },
       3200, 1024},
      {"overhead",
       [](Pod& pod) {
         pod.spec.overhead = {{"cpu", "50m"}, {"memory", "16Mi"}};
       },
       1050, 1040},
      {"the pod as a whole asks for more than its containers",
       [](Pod& pod) {
         ask_as_a_whole(pod, {{"cpu", "3"}});
       },
       3000, 1024},
      {"the pod as a whole asks for less than its init container needs for a while",
       [](Pod& pod) {
         pod.spec.init_containers.push_back(asking("i", {{"memory", "4Gi"}}));
         ask_as_a_whole(pod, {{"memory", "2Gi"}});
       },
       1000, 2048},
      {"the pod as a whole and overhead",
       [](Pod& pod) {
         ask_as_a_whole(pod, {{"cpu", "2"}, {"memory", "2Gi"}});
         pod.spec.overhead = {{"cpu", "100m"}};
       },
       2100, 2048},
      {"only limits of the pod as a whole",
       [](Pod& pod) {
         pod.spec.resources = ResourceRequirements{};
         pod.spec.resources->limits = {{"cpu", "5"}};
       },
       1000, 1024},
      {"a resource that no pod can request as a whole",
       [](Pod& pod) {
         ask_as_a_whole(pod, {{"ephemeral-storage", "5"}});
       },
       1000, 1024},
      {"a smaller size is wanted, but the old one is in effect",
       [](Pod& pod) {
         pod.status.container_statuses.push_back(
             granted("c", {{"cpu", "1"}, {"memory", "1Gi"}}, {{"cpu", "3"}, {"memory", "1Gi"}}));
       },
       3000, 1024},
      {"a larger size is allocated and not yet in effect",
       [](Pod& pod) {
         pod.status.container_statuses.push_back(
             granted("c", {{"cpu", "2"}, {"memory", "1Gi"}}, {{"cpu", "1"}, {"memory", "1Gi"}}));
       },
       2000, 1024},
      {"a larger size is wanted and neither allocated nor in effect",
       [](Pod& pod) {
         pod.status.container_statuses.push_back(granted("c", {{"cpu", "500m"}, {"memory", "1Gi"}},
                                                         {{"cpu", "500m"}, {"memory", "1Gi"}}));
         resize(pod, "Deferred");
       },
       1000, 1024},
      {"an infeasible resize does not count",
       [](Pod& pod) {
         pod.status.container_statuses.push_back(
             granted("c", {{"cpu", "500m"}}, {{"cpu", "400m"}, {"memory", "100Mi"}}));
         resize(pod, "Infeasible");
       },
       500, 100},
      {"without resources in effect, the allocated ones count",
       [](Pod& pod) {
         pod.status.container_statuses.push_back(granted("c", {{"memory", "3Gi"}}, {}));
       },
       1000, 3072},
      {"the status of a resized sidecar",
       [](Pod& pod) {
         pod.spec.init_containers.push_back(asking("s", {{"cpu", "200m"}}));
         pod.spec.init_containers.back().restart_policy = "Always";
         pod.status.init_container_statuses.push_back(granted("s", {}, {{"cpu", "700m"}}));
       },
       1700, 1024},
      {"a resize of the pod as a whole; its status contains the overhead",
       [](Pod& pod) {
         ask_as_a_whole(pod, {{"cpu", "2"}});
         pod.spec.overhead = {{"cpu", "100m"}};
         grant_as_a_whole(pod, {{"cpu", "2100m"}}, {{"cpu", "4100m"}});
       },
       4100, 1024},
      {"an infeasible resize of the pod as a whole",
       [](Pod& pod) {
         ask_as_a_whole(pod, {{"cpu", "9"}});
         grant_as_a_whole(pod, {{"cpu", "2"}}, {{"cpu", "2"}});
         resize(pod, "Infeasible");
       },
       2000, 0},
  };
  return all;
}

TEST(Requests, AreCountedAsKubernetesCountsThem) {
  for (const Asking& each : askings()) {
    Pod pod;
    pod.spec.containers.push_back(asking("c", {{"cpu", "1"}, {"memory", "1Gi"}}));
    each.change(pod);
    Symbols symbols;
    const auto requests = read_requests(pod, symbols);
    ASSERT_TRUE(requests) << each.what << ": " << requests.error().what;
    EXPECT_EQ(requests->real.milli_cpu, each.milli_cpu) << each.what;
    EXPECT_EQ(requests->real.memory / (1024 * 1024), each.mebibytes) << each.what;
  }
}

TEST(Requests, HugePagesMayBeRequestedForThePodAsAWhole) {
  Pod pod;
  pod.spec.containers.push_back(asking("c", {{"hugepages-2Mi", "4Mi"}}));
  ask_as_a_whole(pod, {{"hugepages-2Mi", "8Mi"}});
  Symbols symbols;
  const auto requests = read_requests(pod, symbols);
  ASSERT_TRUE(requests);
  EXPECT_EQ(requests->real.scalar(symbols.id("hugepages-2Mi")), 8 * 1024 * 1024);
}

TEST(Requests, DefaultsForScoresCountOnlyForWhatNobodyRequests) {
  Pod pod;
  pod.spec.containers.push_back(asking("a", {}));
  pod.spec.containers.push_back(asking("b", {}));
  Symbols symbols;
  EXPECT_EQ(read_requests(pod, symbols)->scored_cpu, 200);
  ask_as_a_whole(pod, {{"cpu", "1"}});
  EXPECT_EQ(read_requests(pod, symbols)->scored_cpu, 1000);
  EXPECT_EQ(read_requests(pod, symbols)->scored_memory, 400LL * 1024 * 1024);
  pod.spec.containers[0].resources.requests = {{"memory", "1Mi"}};
  EXPECT_EQ(read_requests(pod, symbols)->scored_memory, 1024 * 1024);
}

TEST(Requests, AnInvalidAmountNamesItsField) {
  Pod pod;
  pod.spec.containers.push_back(asking("c", {}));
  ask_as_a_whole(pod, {{"cpu", "much"}});
  Symbols symbols;
  const auto requests = read_requests(pod, symbols);
  ASSERT_FALSE(requests);
  EXPECT_NE(requests.error().what.find("spec.resources.requests"), std::string::npos);
}

}  // namespace
}  // namespace holdfast::sync::schedule
