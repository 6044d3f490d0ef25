// A pod that uses what the scheduler does not support is not bound, and its message names it.

#include <functional>

#include "test/unit/sync/schedule/cluster_fixture.h"

namespace holdfast::sync::schedule {
namespace {

struct UnsupportedUse {
  std::function<void(Pod&)> change;
  std::string message;
};

TEST(Unsupported, IsNamedAndNeverBound) {
  const UnsupportedUse uses[] = {
      {[](Pod& pod) {
         pod.spec.resource_claims = {{"gpu", {}}, {"nic", {}}};
       },
       "0/1 nodes are available: dynamic resource allocation is not supported: "
       "spec.resourceClaims [gpu nic]."},
      {[](Pod& pod) {
         pod.spec.scheduling_group = PodSchedulingGroup{"workers", {}};
       },
       "0/1 nodes are available: scheduling pods as a group is not supported: "
       "spec.schedulingGroup \"workers\"."},
  };
  for (const UnsupportedUse& use : uses) {
    test::ClusterFixture cluster_fixture;
    cluster_fixture.nodes.push_back(test::make_node("a"));
    // A victim would make no difference.
    cluster_fixture.pods.push_back(test::make_pod("victim", 0, "100", "a"));
    cluster_fixture.incoming = test::make_pod("p", 1000, "100");
    use.change(cluster_fixture.incoming);
    const test::Result result = test::run(cluster_fixture);
    EXPECT_EQ(result.node, "");
    EXPECT_EQ(result.message, use.message);
    EXPECT_FALSE(result.preemption.chosen);
  }
}

}  // namespace
}  // namespace holdfast::sync::schedule
